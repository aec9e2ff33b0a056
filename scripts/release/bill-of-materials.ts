import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DebianPackage } from './image-layers.ts'
import { sha256 } from './oci-image.ts'
import { ReleaseError } from './run.ts'

/** A package of npm in the executable; workspaces have no integrity. */
export interface NpmPackage {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly integrity: string | undefined
  /** Its folder, below the root. */
  readonly path: string
}

interface LockEntry {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly optional?: boolean
}

/**
 * Lists what package-lock.json installs for the product: no tools of development, no Bun for other systems.
 *
 * @throws {ReleaseError} for a package without a licence
 */
export function npmPackages(lock: unknown): readonly NpmPackage[] {
  const entries: Readonly<Record<string, LockEntry>> = Object(Object(lock).packages)
  const own = entries['']
  const found = Object.entries(entries)
    .filter(([path, entry]) => path !== '' && !entry.dev && !entry.link && !entry.optional)
    .map(([path, entry]): NpmPackage => {
      const { version = own?.version ?? '', license = '', integrity } = entry
      return { name: entry.name ?? path.replace(/^.*node_modules\//, ''), version, license, integrity, path }
    })
  const without = found.filter(({ license }) => license === '').map(({ name }) => name)
  if (without.length > 0) throw new ReleaseError(`no licence is named by ${without.join(', ')}, in package-lock.json`)
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** What a bill of materials lists. */
export interface Materials {
  readonly version: string
  /** Seconds since 1970. */
  readonly time: number
  readonly npm: readonly NpmPackage[]
  readonly debian: readonly DebianPackage[]
}

/** A CycloneDX 1.6 document of executables and images. The same materials give the same bytes. */
export function billOfMaterials({ version, time, npm, debian }: Materials): string {
  // A package of all processors is in both images.
  const each = new Map([...npm.map(npmComponent), ...debian.map(debianComponent)].map((one) => [one.purl, one]))
  const components = [...each.values()]
  const svc = `pkg:npm/svc@${version}`
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(components))}`,
    version: 1,
    metadata: {
      timestamp: new Date(time * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': svc,
        name: 'svc',
        version,
        purl: svc,
        licenses: [{ expression: 'MIT' }],
      },
    },
    components,
    dependencies: [
      { ref: svc, dependsOn: components.map((component) => component['bom-ref']) },
      ...components.map((component) => ({ ref: component['bom-ref'] })),
    ],
  }
  return `${JSON.stringify(bill, undefined, 2)}\n`
}

function npmComponent({ name, version, license, integrity }: NpmPackage) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [, hash] = /^sha512-(.+)$/.exec(integrity ?? '') ?? []
  const hashes =
    hash === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] }
  return { type: 'library', 'bom-ref': purl, name, version, purl, licenses: [{ expression: license }], ...hashes }
}

function debianComponent({ name, version, architecture }: DebianPackage) {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`
  return { type: 'library', 'bom-ref': purl, name, version, purl }
}

/** A UUID that follows from a text (version 8, RFC 9562). */
function uuidOf(text: string): string {
  const hash = sha256(Buffer.from(text))
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

const bunNote =
  'Bun contains JavaScriptCore and other parts of WebKit (LGPL 2.1) and further libraries: ' +
  'https://bun.com/docs/project/license'

/** The packages with their licences, and the texts of those that come with one. */
export function licenceList({ npm, debian }: Materials, root: string): string {
  const rows = npm.map(({ name, version, license }) => `${name} ${version}: ${license}`)
  const texts = npm.flatMap(({ name, version, path }) => {
    const text = licenceText(join(root, path))
    return text === undefined ? [] : [`${'-'.repeat(80)}\n${name} ${version}\n\n${text.trim()}\n`]
  })
  const images = debian.map(
    ({ name, version, architecture }) => `${name} ${version} (${architecture}): /usr/share/doc/${name}/copyright`,
  )
  return [
    'Packages in the executables\n',
    ...rows,
    `\n${bunNote}\n`,
    'Packages of Debian in the images, with the path of their licences there\n',
    ...images,
    '',
    ...texts,
  ].join('\n')
}

function licenceText(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const name = names.toSorted().find((each) => /^(?:licen[cs]e|copying)(?:\.\w+)?$/i.test(each))
  return name === undefined ? undefined : readFileSync(join(folder, name), 'utf8')
}
