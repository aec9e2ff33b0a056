import { chmod, mkdtemp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import lock from '../package-lock.json'
import manifest from '../package.json'
import { billOfMaterials, licenceList, npmPackages } from './release/bill-of-materials.ts'
import { packChart } from './release/chart.ts'
import { executableFor } from './release/executables.ts'
import { baseLayer, containerVariables, serviceLayer } from './release/image-layers.ts'
import { imageIndex, processors, sha256 } from './release/oci-image.ts'
import { ReleaseError, root, run, Tools } from './release/run.ts'
import { publish, signFile, unpackLayout } from './release/sign.ts'

/**
 * `npm run release`: makes all files of a version in one folder (docs/contributing/releasing.md).
 *
 * 1. release/executables.ts: svc for two processors.
 * 2. release/image-layers.ts: files of Debian, and svc on top; release/oci-image.ts: both as one index.
 * 3. release/chart.ts, the compose file, release/bill-of-materials.ts, SHA256SUMS.
 * 4. release/sign.ts: signatures with a key that is given, and the push to a registry that is given.
 *
 * Steps 1 to 3 depend on the commit, the Bun of package.json and the packages of Debian alone: `--twice` compares.
 */

const help = `Makes the files of a release: executables and images for two processors, chart, bill of materials, sums.

Usage: npm run release -- [flags]

Flags:
  --out FOLDER    where they go (default: dist/release)
  --force         replace the folder of another version
  --any-tree      allow changes that are not committed
  --twice         build everything again, and fail unless each byte is the same
  --image NAME    where the image will be published, for the chart: registry.example.com/team/svc
  --push          publish the image there
  --key KEY       sign with this private key of cosign (a file, or the address of a key service);
                  COSIGN_PASSWORD has its password. Without it, the release is unsigned
  --tools FOLDER  where crane and cosign are, if not on the path; else Go builds them
  -h, --help      print this

Exit codes: 0 done; 1 failed, the reason is on standard error; 2 wrong usage.`

const flags = {
  out: { type: 'string', default: join(root, 'dist', 'release') },
  force: { type: 'boolean', default: false },
  'any-tree': { type: 'boolean', default: false },
  twice: { type: 'boolean', default: false },
  image: { type: 'string' },
  push: { type: 'boolean', default: false },
  key: { type: 'string' },
  tools: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const { version } = manifest
const began = performance.now()

function say(line: string): void {
  console.log(`[${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s] ${line}`)
}

/** What the files are made from. */
interface Source {
  readonly tools: Tools
  /** Of the commit, in seconds since 1970. */
  readonly time: number
  readonly labels: Readonly<Record<string, string>>
  readonly image: string | undefined
}

async function source(options: ReturnType<typeof readFlags>): Promise<Source> {
  const tools = new Tools(options.tools, say)
  // A missing program is named before minutes of work.
  const git = await tools.find('git')
  for (const name of ['npm', 'tar', 'mmdebstrap'] as const) await tools.find(name)
  if (options.push) await tools.find('crane')
  if (options.key !== undefined) {
    await tools.find('cosign')
    if (!options.key.includes('://') && !(await Bun.file(options.key).exists()))
      throw new ReleaseError(`there is no key at ${options.key}: cosign generate-key-pair makes one`)
  }
  const changed = (await run([git, 'status', '--porcelain'])).trim()
  if (changed !== '' && !options['any-tree'])
    throw new ReleaseError(`these files are not committed (--any-tree allows it):\n${changed}`)
  const [revision = '', time = ''] = (await run([git, 'log', '-1', '--format=%H %ct'])).trim().split(' ')
  const named = 'org.opencontainers.image'
  const { repository } = manifest as { readonly repository?: { readonly url: string } }
  if (repository === undefined) say('package.json names no repository, so the image names none (releasing.md)')
  const labels = {
    [`${named}.title`]: 'svc',
    [`${named}.description`]: manifest.description,
    [`${named}.version`]: version,
    [`${named}.revision`]: revision,
    [`${named}.licenses`]: manifest.license,
    ...(repository !== undefined && { [`${named}.source`]: repository.url }),
  }
  return { tools, time: Number(time), labels, image: options.image }
}

/** Writes all files but signatures. Returns the digest of the index. */
async function makeFiles(folder: string, { tools, time, labels, image }: Source): Promise<string> {
  const texts = {
    LICENSE: await readFile(join(root, 'LICENSE')),
    NOTICE: await readFile(join(root, 'NOTICE')),
  }
  const contents = []
  const debian = []
  for (const processor of processors) {
    const executable = join(folder, `svc-${version}-linux-${processor.npm}`)
    const work = join(folder, 'work')
    const size = await executableFor(processor, join(work, 'svc'), tools)
    await rename(join(work, 'svc'), executable)
    say(`executable for ${processor.npm}: ${megabytes(size)}`)
    const base = await baseLayer(processor, { time, folder: work, tools })
    say(`base for ${processor.debian}: ${megabytes(base.layer.length)}, ${base.packages.length} packages of Debian`)
    const layers = [base.layer, serviceLayer(await readFile(executable), texts, time)]
    say(`image for ${processor.debian}: ${megabytes(layers.reduce((sum, layer) => sum + layer.length, 0))}`)
    contents.push({ processor, layers })
    debian.push(...base.packages)
  }
  const { archive, digest } = imageIndex(contents, { version, time, environment: await containerVariables(), labels })
  say(`index of both: ${megabytes(archive.length)} compressed, ${digest}`)
  const materials = { version, time, npm: npmPackages(lock), debian }
  const files = {
    'image.tar': archive,
    'chart.tgz': packChart(image, { digest, time }),
    'compose.yaml': await readFile(join(root, 'examples', 'compose.yaml')),
    'cdx.json': billOfMaterials(materials),
    'licences.txt': licenceList(materials, root),
  }
  for (const [name, bytes] of Object.entries(files)) await Bun.write(join(folder, `svc-${version}-${name}`), bytes)
  await writeSums(folder)
  return digest
}

const megabytes = (size: number) => `${(size / 1e6).toFixed(1)} MB`

/** SHA256SUMS, for `sha256sum --check`. */
async function writeSums(folder: string): Promise<void> {
  const names = Array.from(new Bun.Glob(`svc-${version}-*`).scanSync({ cwd: folder })).toSorted()
  const lines = await Promise.all(names.map(async (name) => `${sha256(await readFile(join(folder, name)))}  ${name}\n`))
  await Bun.write(join(folder, 'SHA256SUMS'), lines.join(''))
}

async function compareWith(folder: string, again: Source): Promise<void> {
  const second = join(folder, 'second')
  await makeFiles(second, again)
  const [one, other] = await Promise.all(
    [folder, second].map(async (each) => (await readFile(join(each, 'SHA256SUMS'), 'utf8')).split('\n')),
  )
  await rm(second, { recursive: true })
  const different = (one ?? []).filter((line) => !other?.includes(line)).map((line) => line.split('  ')[1])
  if (different.length > 0) throw new ReleaseError(`the second build has other bytes in ${different.join(', ')}`)
  say('the second build has the same bytes')
}

/** Refuses to replace a folder that this script did not make, or that has another version. */
async function checkFolder(out: string, isForced: boolean): Promise<void> {
  const exists = await stat(out).then(
    () => true,
    () => false,
  )
  if (!exists || isForced) return
  if (await Bun.file(join(out, `svc-${version}-image.tar`)).exists()) return
  throw new ReleaseError(`${out} is not a release of ${version}; --force replaces it, --out names another folder`)
}

function readFlags() {
  const { values } = parseArgs({ options: flags })
  if (values.push && values.image === undefined) throw new TypeError('--push needs --image')
  return values
}

async function release(options: ReturnType<typeof readFlags>): Promise<void> {
  const out = resolve(options.out)
  await checkFolder(out, options.force)
  say(`svc ${version}`)
  const from = await source(options)
  await mkdir(dirname(out), { recursive: true })
  const folder = await mkdtemp(join(dirname(out), '.release-'))
  try {
    const digest = await makeFiles(folder, from)
    if (options.twice) await compareWith(folder, from)
    if (options.key === undefined) say('UNSIGNED: no --key was given')
    else {
      await signFile(join(folder, 'SHA256SUMS'), options.key, from.tools)
      say('SHA256SUMS is signed: SHA256SUMS.sigstore.json')
    }
    if (options.push && options.image !== undefined) await push(folder, { digest, image: options.image }, options, from)
    await chmod(folder, 0o755)
    await rm(out, { recursive: true, force: true })
    await rename(folder, out)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  say(`done: ${out}`)
}

async function push(
  folder: string,
  { digest, image }: { readonly digest: string; readonly image: string },
  { key }: ReturnType<typeof readFlags>,
  { tools }: Source,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'svc-release-'))
  try {
    const layout = await unpackLayout(join(folder, `svc-${version}-image.tar`), work, tools)
    const bill = join(folder, `svc-${version}-cdx.json`)
    await publish({ layout, image, version, digest, bill }, key, tools)
    say(`published${key === undefined ? ', unsigned' : ' and signed'}: ${image}@${digest}`)
  } finally {
    await rm(work, { recursive: true })
  }
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readFlags>
  try {
    options = readFlags()
  } catch (error) {
    console.error(`release: ${error instanceof Error ? error.message : String(error)}\n\n${help}`)
    return 2
  }
  if (options.help) {
    console.log(help)
    return 0
  }
  try {
    await release(options)
    return 0
  } catch (error) {
    console.error(`release: ${error instanceof ReleaseError ? error.message : Bun.inspect(error)}`)
    return 1
  }
}

process.exit(await main())
