import type { Extension } from './extension.ts'

/** The extensions that are built in, by name; each is loaded only when it is switched on. */
const known: Readonly<Record<string, () => Promise<Extension>>> = {}

/** An extension was asked for that does not exist: the service must not start without it. */
export class UnknownExtension extends Error {
  override readonly name = 'UnknownExtension'
}

/** Finds an extension by name. @throws {UnknownExtension} */
export async function loadExtension(name: string): Promise<Extension> {
  const load = Object.hasOwn(known, name) ? known[name] : undefined
  if (load !== undefined) return load()
  const names = Object.keys(known)
  throw new UnknownExtension(`there is no extension '${name.slice(0, 64)}': ${names.length === 0 ? 'this version has none' : `the extensions are ${names.join(', ')}`}`)
}
