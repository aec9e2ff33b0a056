import { join } from 'node:path'
import { run, type Tools } from './run.ts'

/** cosign with a key of its user: nothing is sent to a transparency log. */
const offline = ['--yes', '--tlog-upload=false', '--use-signing-config=false']

/** Signs a file into NAME.sigstore.json beside it. COSIGN_PASSWORD has the password of the key. */
export async function signFile(file: string, key: string, tools: Tools): Promise<void> {
  const cosign = await tools.find('cosign')
  await run([cosign, 'sign-blob', ...offline, '--key', key, '--bundle', `${file}.sigstore.json`, file])
}

/** An image that is published. */
export interface Published {
  /** The folder of its OCI layout. */
  readonly layout: string
  /** Where it goes: a repository of a registry, without a tag. */
  readonly image: string
  readonly version: string
  readonly digest: string
  /** A bill of materials, which is attested. */
  readonly bill: string
}

/** Pushes an index, and with a key signs it and attests its bill of materials. */
export async function publish(published: Published, key: string | undefined, tools: Tools): Promise<void> {
  const { layout, image, version, digest, bill } = published
  await run([await tools.find('crane'), 'push', layout, `${image}:${version}`])
  if (key === undefined) return
  const cosign = await tools.find('cosign')
  const isLocal = /^(?:localhost|127\.0\.0\.1):/.test(image)
  const flags = [...offline, ...(isLocal ? ['--allow-http-registry', '--allow-insecure-registry'] : [])]
  const reference = `${image}@${digest}`
  await run([cosign, 'sign', ...flags, '--key', key, reference])
  await run([cosign, 'attest', ...flags, '--key', key, '--type', 'cyclonedx', '--predicate', bill, reference])
}

/** Unpacks the archive of an index, for {@link publish}. */
export async function unpackLayout(archive: string, folder: string, tools: Tools): Promise<string> {
  const layout = join(folder, 'layout')
  await run(['mkdir', '-p', layout])
  await run([await tools.find('tar'), '--extract', '--file', archive, '--directory', layout])
  return layout
}
