import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Processor } from './oci-image.ts'
import { ReleaseError, root, run, type Tools } from './run.ts'
import { entriesOf, tar } from './tar.ts'

/** A package of Debian in the image. */
export interface DebianPackage {
  readonly name: string
  readonly version: string
  readonly architecture: string
}

/** The files of Debian for one processor. */
export interface BaseLayer {
  readonly layer: Uint8Array<ArrayBuffer>
  readonly packages: readonly DebianPackage[]
}

const suite = 'bookworm'
/** The executable needs a C library. `base-files` names the system for scanners, `netbase` names protocols. */
const included = 'libc6,base-files,netbase'
const machineSources = '/etc/apt/sources.list.d/debian.sources'
/** What stays of them: libraries, facts and licences, but no shell, no interpreter, no tables of character sets. */
const kept = new RegExp(
  `^(?:${[
    'etc(?:/(?:os-release|debian_version|protocols|services))?',
    'lib(?:64)?(?:/.*)?',
    'usr(?:/lib(?:/os-release)?|/share(?:/doc(?:/(?!mawk)[^/]+(?:/copyright)?)?)?)?',
    'var(?:/lib(?:/dpkg(?:/status\\.d(?:/(?!mawk).*)?)?)?)?',
  ].join('|')})$`,
)
/** Scanners of images read the packages there, as in other images without dpkg. */
const writeStatus =
  'mkdir -p "$1/var/lib/dpkg/status.d"; for deb in "$1"/var/cache/apt/archives/*.deb; do' +
  ' dpkg-deb --field "$deb" >"$1/var/lib/dpkg/status.d/$(dpkg-deb --field "$deb" Package)"; done'

/** Unpacks packages of Debian, without running any of them, into a layer. `folder` is used meanwhile. */
export async function baseLayer(
  { debian }: Processor,
  { time, folder, tools }: { readonly time: number; readonly folder: string; readonly tools: Tools },
): Promise<BaseLayer> {
  const archive = join(folder, `${debian}.tar`)
  const files = join(folder, debian)
  await mkdir(files, { recursive: true })
  const sources = (await Bun.file(machineSources).exists()) ? [machineSources] : []
  const command = ['--quiet', '--variant=extract', `--architectures=${debian}`, `--include=${included}`]
  await run([await tools.find('mmdebstrap'), ...command, `--extract-hook=${writeStatus}`, suite, archive, ...sources], {
    environment: { SOURCE_DATE_EPOCH: String(time) },
  })
  const wanted = ['./etc', './lib', './lib64', './usr/lib/os-release', './usr/share/doc', './var/lib/dpkg/status.d']
  const existing = debian === 'amd64' ? wanted : wanted.filter((path) => path !== './lib64')
  await run([await tools.find('tar'), '--extract', '--file', archive, '--directory', files, ...existing])
  const entries = entriesOf(files).filter(({ path }) => kept.test(path))
  const privileged = entries.filter(({ mode }) => (mode & 0o6000) !== 0).map(({ path }) => path)
  if (privileged.length > 0) throw new ReleaseError(`files with the rights of their owner: ${privileged.join(', ')}`)
  const packages = await debianPackages(join(files, 'var', 'lib', 'dpkg', 'status.d'))
  await rm(folder, { recursive: true })
  return { layer: tar(entries, time), packages }
}

async function debianPackages(folder: string): Promise<readonly DebianPackage[]> {
  const names = (await readdir(folder)).filter((name) => name !== 'mawk')
  return await Promise.all(
    names.toSorted().map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8')
      const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(text)?.[1] ?? ''
      return { name, version: field('Version'), architecture: field('Architecture') }
    }),
  )
}

/** The layer of svc: its executable, its home folder, and the texts of licences. */
export function serviceLayer(
  executable: Uint8Array,
  texts: Readonly<Record<string, Uint8Array>>,
  time: number,
): Uint8Array<ArrayBuffer> {
  const folders = ['usr', 'usr/local', 'usr/local/bin', 'usr/share', 'usr/share/doc', 'usr/share/doc/svc']
  return tar(
    [
      ...folders.map((path) => ({ path, mode: 0o755 })),
      { path: 'data', mode: 0o700, owner: 10001 },
      { path: 'usr/local/bin/svc', mode: 0o755, bytes: executable },
      ...Object.entries(texts).map(([name, bytes]) => ({ path: `usr/share/doc/svc/${name}`, mode: 0o644, bytes })),
    ],
    time,
  )
}

/** The variables of examples/Containerfile. */
export async function containerVariables(): Promise<readonly string[]> {
  const text = await readFile(join(root, 'examples', 'Containerfile'), 'utf8')
  return Array.from(text.matchAll(/^ENV (.+)$/gm), ([, line = '']) => line.split(' ')).flat()
}
