<?php
// A service on PHP's own server. A run is another process, which writes its events
// into a file; a stream reads that file. The prompt "warn" makes PHP write a
// warning into the stream.

if (PHP_SAPI === 'cli') {
    [, $file, $prompt] = $argv;
    $send = fn ($event) => file_put_contents($file, json_encode($event) . "\n", FILE_APPEND);
    foreach (['plan', 'look up', 'write'] as $node) {
        $send(['event' => 'progress', 'node' => $node, 'status' => 'done']);
        usleep(800_000);
    }
    $send(['event' => 'complete', 'instructorState' => ['explanation' => "You said: $prompt"]]);
    exit;
}

function answer(int $status, array $value): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    exit(json_encode($value));
}

if (($_SERVER['HTTP_X_API_KEY'] ?? '') !== getenv('SERVICE_KEY')) {
    answer(401, ['message' => 'Unknown key']);
}
// threads, threads/{thread}/runs, threads/{thread}/runs/{run}/stream
[, , $thread, , $run] = array_pad(explode('/', $_SERVER['REQUEST_URI']), 5, null);
$folder = __DIR__ . "/thread-$thread";
if ($thread === null) {
    $thread = bin2hex(random_bytes(16));
    mkdir(__DIR__ . "/thread-$thread");
    answer(201, ['thread_id' => $thread]);
}
if ($run === null) {
    $prompt = json_decode(file_get_contents('php://input'), true)['prompt'] ?? null;
    if (!is_dir($folder)) answer(404, ['message' => 'No such thread']);
    if (!is_string($prompt)) answer(400, ['message' => 'No prompt']);
    $run = bin2hex(random_bytes(16));
    touch("$folder/$run");
    $command = array_map('escapeshellarg', [PHP_BINARY, __FILE__, "$folder/$run", $prompt]);
    file_put_contents("$folder/$run.prompt", $prompt);
    exec(implode(' ', $command) . ' >/dev/null 2>&1 &');
    answer(201, ['run_id' => $run]);
}
if (!is_file("$folder/$run")) answer(404, ['message' => 'No such run']);

header('Content-Type: text/event-stream');
if (ob_get_level() > 0) ob_end_flush();
if (file_get_contents("$folder/$run.prompt") === 'warn') echo $undefined;
$sent = (int) ($_SERVER['HTTP_LAST_EVENT_ID'] ?? 0);
for ($event = ''; !str_contains($event, '"complete"'); usleep(20_000)) {
    foreach (array_slice(file("$folder/$run"), $sent) as $event) {
        echo 'id: ', ++$sent, "\ndata: $event\n";
    }
    flush();
}
