import type { Extension } from './extension.ts'
import * as known from './known.ts'

/** An extension was asked for that does not exist: the service must not start without it. */
export class UnknownExtension extends Error {
  override readonly name = 'UnknownExtension'
}

/** Finds an extension by name; only then is it loaded. @throws {UnknownExtension} */
export async function loadExtension(name: string): Promise<Extension> {
  if (known.names.includes(name)) return (await known.load(name)).extension
  throw new UnknownExtension(
    `there is no extension '${name.slice(0, 64)}': ${known.names.length === 0 ? 'there is none at all' : `the extensions are ${known.names.join(', ')}`}`,
  )
}
