"""
A network with a delay: two network namespaces joined by a TUN device in each, between
which this program passes packets on. Both sides use the kernel's own TCP. It removes
the namespaces when its input ends.

    python3 wire.py NAME ROUND_TRIP_MS [LOSS]

The namespaces are called NAMEa (10.77.0.1) and NAMEb (10.77.0.2). LOSS is the share of
packets that are lost. It prints `ready`. Then each line of input is answered with the
number of one-way trips, since the line before, in the longest chain of packets each of
which was sent after the one before it had arrived.
"""
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000


def run(*command):
    subprocess.run(command, check=True)


def open_side(namespace, device, address):
    run("ip", "netns", "add", namespace)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(
        tun, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI)
    )
    run("ip", "link", "set", device, "netns", namespace)
    for command in (
        ("addr", "add", address, "dev", device),
        ("link", "set", device, "mtu", "1500", "up"),
        ("link", "set", "lo", "up"),
    ):
        run("ip", "netns", "exec", namespace, "ip", *command)
    return tun


def pass_packets(sides, delay, loss):
    """Passes packets on until the input ends."""
    peer = {sides[0]: sides[1], sides[1]: sides[0]}
    depth = {side: 0 for side in sides}  # the longest chain that has arrived there
    queue = []
    count = 0
    while True:
        now = time.monotonic()
        while queue and queue[0][0] <= now:
            _, _, side, packet, trips = heapq.heappop(queue)
            depth[side] = max(depth[side], trips)
            try:
                os.write(side, packet)
            except OSError:
                pass  # The side's queue is full: the packet is lost.
        wait = max(0, queue[0][0] - time.monotonic()) if queue else None
        for source in select.select([*sides, sys.stdin], [], [], wait)[0]:
            if source is sys.stdin:
                if not sys.stdin.readline():
                    return
                print(max(depth.values()), flush=True)
                depth = {side: 0 for side in sides}
                queue = [(*entry[:-1], 0) for entry in queue]
                continue
            while True:
                try:
                    packet = os.read(source, 2048)
                except BlockingIOError:
                    break
                if random.random() < loss:
                    continue
                count += 1
                due = time.monotonic() + delay
                trips = depth[source] + 1
                heapq.heappush(queue, (due, count, peer[source], packet, trips))


def main():
    _, name, round_trip, *rest = sys.argv
    loss = float(rest[0]) if rest else 0
    try:
        sides = [
            open_side(name + "a", name + "ta", "10.77.0.1/24"),
            open_side(name + "b", name + "tb", "10.77.0.2/24"),
        ]
        print("ready", flush=True)
        pass_packets(sides, float(round_trip) / 2000, loss)
    finally:
        for side in "ab":
            subprocess.run(["ip", "netns", "del", name + side], check=False)


main()
