import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Certificate } from './fakes/certificates.ts'

/** The environment in which a service trusts this authority. The file is gone when the tests are. */
export async function authorityEnvironment(authority: Certificate): Promise<Readonly<Record<string, string>>> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'authority.pem')
  await Bun.write(file, authority.cert)
  return { NODE_EXTRA_CA_CERTS: file }
}
