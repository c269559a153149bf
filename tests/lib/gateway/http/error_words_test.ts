import { assertEquals } from "@std/assert";
import { errorDetail } from "../../../../lib/gateway/http/error_words.ts";
import { testRows } from "../../../support/tables.ts";

/**
 * Bodies of errors, as the sources or documents of these frameworks, libraries and APIs
 * have them, then made up ones, and what users read of each.
 */
testRows(
  "errorDetail() finds the sentence that helps in a body of {source}",
  "source | body | words",
  `
FastAPI: exception_handlers.py | {"detail":[{"type":"missing","loc":["body","prompt"],"msg":"Field required","input":{}}]} | prompt: Field required
FastAPI: HTTPException | {"detail":"No quota"} | No quota
Django Ninja: test_body.py | {"detail":[{"type":"missing","loc":["body","payload","tags",0],"msg":"Field required"}]} | payload.tags.0: Field required
Django REST framework: exceptions.md | {"detail":"Method 'POST' not allowed."} | Method 'POST' not allowed.
flask-smorest: error_handler.py | {"code":422,"status":"Unprocessable Entity","errors":{"json":{"prompt":["Missing data for required field."]}}} | prompt: Missing data for required field
Litestar: 2.x-changelog.rst | {"status_code":400,"detail":"Validation failed for POST http://localhost:8000/","extra":[{"message":"Expected \`str\`, got \`null\`","key":"prompt","source":"body"}]} | prompt: Expected \`str\`, got \`null\`
Falcon: http_error.py | {"title":"400 Bad Request","description":"The prompt is missing","code":7} | The prompt is missing
Sanic: errorpages.py | {"description":"Not Found","status":404,"message":"Requested URL /x not found"} | Requested URL /x not found
Fastify: fluent-schema.test.js | {"statusCode":400,"code":"FST_ERR_VALIDATION","error":"Bad Request","message":"body must have required property 'prompt'"} | body must have required property 'prompt'
NestJS: http.exception.ts | {"message":["prompt must be a string","prompt should not be empty"],"error":"Bad Request","statusCode":400} | prompt must be a string, prompt should not be empty
Hapi: boom/lib/index.js | {"statusCode":400,"error":"Bad Request","message":"Invalid request payload input"} | Invalid request payload input
express-validator: index.md | {"errors":[{"type":"field","msg":"Invalid value","path":"prompt","location":"body"}]} | prompt: Invalid value
Hono: zod-validator with Zod 3 | {"success":false,"error":{"issues":[{"code":"invalid_type","path":["prompt"],"message":"Required"}],"name":"ZodError"}} | prompt: Required
ASP.NET Core: ValidationProblemDetails.cs | {"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","title":"One or more validation errors occurred.","status":400,"errors":{"Prompt":["The Prompt field is required.","?"],"Tags":["No."]},"traceId":"00-1"} | Prompt: The Prompt field is required, Tags: No
RFC 9457: problem details | {"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.","detail":"Your balance is 30, but that costs 50."} | Your balance is 30, but that costs 50.
Spring Boot: DefaultErrorAttributes.java | {"timestamp":"2026-11-28","status":400,"error":"Bad Request","message":"Validation failed for object='run'. Error count: 1","errors":[{"codes":["NotBlank"],"defaultMessage":"must not be blank","objectName":"run","field":"prompt"}],"path":"/threads"} | prompt: must not be blank
Spring Boot: without a message | {"status":404,"error":"Not Found","path":"/threads"} | Not Found
Micronaut: FileTypeHandlerSpec.groovy | {"_embedded":{"errors":[{"message":"Internal Server Error: Could not find file"}]},"_links":{"self":{"href":"/threads"}},"message":"Internal Server Error"} | Internal Server Error: Could not find file
Quarkus: issue 29047 | {"title":"Constraint Violation","status":400,"violations":[{"field":"add.arg0.prompt","message":"must not be blank"}]} | add.arg0.prompt: must not be blank
Laravel: Handler.php, invalidJson() | {"message":"The given data was invalid.","errors":{"prompt":["The prompt field is required."]}} | prompt: The prompt field is required
Symfony: ConstraintViolationListNormalizer.php | {"title":"Validation Failed","detail":"prompt: Blank","violations":[{"propertyPath":"prompt","title":"This value should not be blank."}]} | prompt: This value should not be blank.
Rails: errors of a model | {"errors":{"prompt":["can't be blank"]}} | prompt: can't be blank
Phoenix: error_json.ex | {"errors":{"detail":"Not Found"}} | Not Found
Echo: binder.go | {"field":"prompt","message":"No"} | prompt: No
Rocket: catcher.rs | {"error":{"code":404,"reason":"Not Found","description":"The requested resource could not be found."}} | The requested resource could not be found.
JSON:API | {"errors":[{"status":"422","title":"Invalid","detail":"The prompt is too short."}]} | The prompt is too short.
GraphQL | {"errors":[{"message":"No such thread","path":["thread",0]}]} | thread.0: No such thread
OAuth: RFC 6750, MCP's bearer_auth.py | {"error":"invalid_token","error_description":"The key expired"} | invalid_token: The key expired
Kong: key-auth/handler.lua | {"message":"No API key found in request","request_id":"1"} | No API key found in request
AWS API Gateway with IAM | {"Message":"User: anonymous is not authorized"} | User: anonymous is not authorized
OpenAI | {"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}} | Incorrect API key provided
Anthropic | {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}} | Overloaded
a message and an error | {"message":"No","error":"E"} | No
a blank message | {"message":" ","error":true,"detail":"No"} | No
lists of words | {"message":"No","errors":["E"],"extra":["E"]} | No
a message like JSON | {"message":"{no}"} | {no}
a place of another shape | {"detail":[{"loc":["body",[["x"]]],"msg":"No"}]} | No
nothing that helps | {"message":[],"errors":[{}],"error":{"code":1}} | -
a list | ["No"] | -
a string | "No" | -
`,
  (row) => {
    assertEquals(errorDetail(JSON.parse(row.body)) ?? "-", row.words);
  },
);

Deno.test("errorDetail() looks at a few levels, however deep a body is nested", () => {
  const nested = (depth: number) =>
    '{"error":'.repeat(depth) + '"No"' + "}".repeat(depth);
  assertEquals(errorDetail(JSON.parse(nested(8))), "No");
  assertEquals(errorDetail(JSON.parse(nested(100_000))), undefined);
});
