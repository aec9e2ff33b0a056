import { createHmac, pbkdf2Sync } from 'node:crypto'
import { opaqueSeal, type OpaqueSeal } from '../formats/opaque-seal.ts'
import type { Endpoint } from '../protocols/protocol.ts'

/** Some 10 ms, once: callers see checksums, and could use them to test guesses of a short key. */
const rounds = 100_000
/** 132 bits. */
const checksumCharacters = 22

/**
 * Makes the seals of an upstream, one for each model. Their keys are derived from its base URL, key and headers, so
 * that all processes and machines with the same configuration have the same ones, also after a restart
 * (docs/decisions/0014-reasoning.md).
 */
export function originSeal({ baseUrl, apiKey, headers }: Endpoint): (model: string) => OpaqueSeal {
  const secrets = Object.entries(headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`)
  let key: Uint8Array | undefined

  function keyOf(): Uint8Array {
    key ??= pbkdf2Sync(
      JSON.stringify([apiKey ?? '', secrets.toSorted()]),
      `svc reasoning ${baseUrl}`,
      rounds,
      32,
      'sha256',
    )
    return key
  }

  return (model) =>
    opaqueSeal((text) =>
      createHmac('sha256', keyOf())
        .update(JSON.stringify([model, text]))
        .digest('base64url')
        .slice(0, checksumCharacters),
    )
}
