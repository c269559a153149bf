import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with {
  type: "json",
};
import { Ajv2020 } from "ajv/dist/2020.js";

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");

/** The schema's definitions, by their method. */
const RESULTS = new Map<string, string>();
const NOTIFICATIONS = new Map<string, string>();
/** The requests that an agent may send to a client. */
const CLIENT_REQUESTS = new Map<string, string>();
for (const [name, definition] of Object.entries(schema.$defs)) {
  if (!("x-method" in definition)) continue;
  const method = definition["x-method"];
  if (name.endsWith("Response")) RESULTS.set(method, name);
  if (name.endsWith("Notification")) NOTIFICATIONS.set(method, name);
  if (name.endsWith("Request") && definition["x-side"] === "client") {
    CLIENT_REQUESTS.set(method, name);
  }
}

/** The schema violations in the result of a method; empty if there are none. */
export function resultViolations(method: string, result: unknown): string {
  const name = RESULTS.get(method);
  return name === undefined ? "" : violations(name, result);
}

/** The schema violations in an error. */
export function errorViolations(error: unknown): string {
  return violations("Error", error);
}

/** The schema violations in the params of a request to a client. */
export function requestViolations(method: string, params: unknown): string {
  const name = CLIENT_REQUESTS.get(method);
  return name === undefined
    ? `${method} is not a request to a client`
    : violations(name, params);
}

/** The schema violations in the params of a notification. */
export function notificationViolations(
  method: string,
  params: unknown,
): string {
  const name = NOTIFICATIONS.get(method);
  return name === undefined
    ? `${method} is not a notification of the protocol`
    : violations(name, params);
}

function violations(name: string, value: unknown): string {
  const validate = ajv.getSchema(`acp#/$defs/${name}`);
  if (validate === undefined) throw new Error(`The schema lacks ${name}`);
  return validate(value) ? "" : `${name}: ${ajv.errorsText(validate.errors)}`;
}
