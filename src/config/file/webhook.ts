import type { TextRule } from '../../base/text-rule.ts'
import type { WebhookEntry } from '../../limits/access-policy.ts'
import { objectShape } from '../../shapes/containers.ts'
import { mapShape, secretShape, textShape } from '../../shapes/shape.ts'
import { readVariable, type Environment } from './environment.ts'
import { variablePattern } from './rules.ts'

const urlRule: TextRule = {
  allowed: 'an https URL without user name and fragment; http only to this machine, such as "http://127.0.0.1:9000/"',
  pattern: new RegExp(
    '^(?:https:\\/\\/(?:[a-z0-9_.-]+|\\[[0-9a-f:.]+\\])|http:\\/\\/(?:localhost|127(?:\\.\\d{1,3}){3}|\\[::1\\]))' +
      '(?::\\d{1,5})?(?:[\\/?][\\u0021\\u0022\\u0024-\\u005b\\u005d-\\u007e]*)?$',
  ),
  lengthMax: 2048,
}
const secretRule: TextRule = {
  allowed: '"$NAME" of an environment variable with the secret',
  pattern: variablePattern,
  lengthMax: 256,
}

/** The path of a URL is often a secret: no fault shows it. */
const url = secretShape(
  mapShape(textShape(urlRule), (text, node, faults) => {
    if (URL.canParse(text)) return text
    faults.add(node, 'no URL', urlRule.allowed)
    return undefined
  }),
)

export const webhookShape = mapShape(
  objectShape(
    { url, secret: secretShape(textShape(secretRule)) },
    { required: ['url', 'secret'], hints: { address: 'url', key: 'secret', token: 'secret' } },
  ),
  ({ url, secret }): WebhookEntry => ({ url, secretName: secret.slice(1) }),
)

const secretBytes = { min: 24, max: 64 }

/** The secret of a webhook in base64; `fault`: why there is none. */
export type WebhookSecret =
  | { readonly secret: string; readonly fault?: never }
  | { readonly secret?: never; readonly fault: string }

/** Reads the secret as Standard Webhooks write it: `whsec_`, which may be left out, and base64 of 24 to 64 bytes. */
export function readWebhookSecret({ secretName }: WebhookEntry, environment: Environment): WebhookSecret {
  const text = readVariable(environment, secretName)
  if (text === undefined) return { fault: `${secretName} is not set` }
  const secret = text.replace(/^whsec_/, '')
  const { length } = Buffer.from(secret, 'base64')
  const isUsable = /^[A-Za-z0-9+/]+={0,2}$/.test(secret) && length >= secretBytes.min && length <= secretBytes.max
  return isUsable ? { secret } : { fault: `${secretName} is not base64 of 24 to 64 bytes: openssl rand -base64 32` }
}
