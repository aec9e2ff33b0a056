import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import lock from '../package-lock.json'
import manifest from '../package.json'
import { billOfMaterials, licenceList, npmPackages } from './release/bill-of-materials.ts'
import { packChart } from './release/chart.ts'
import { containerVariables, serviceLayer } from './release/image-layers.ts'
import { imageIndex, processors, sha256 } from './release/oci-image.ts'
import { root } from './release/run.ts'
import { entriesOf, tar } from './release/tar.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-release-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const time = 1_700_000_000

/** Lists an archive with the tar of this machine. */
function listed(archive: Uint8Array, name: string): string {
  writeFileSync(join(folder, name), archive)
  const { stdout, stderr, exitCode } = Bun.spawnSync(['tar', '--list', '--verbose', '--file', join(folder, name)])
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
  return stdout.toString().replace(/ \d{4}-\d\d-\d\d \d\d:\d\d /g, ' TIME ')
}

describe('tar', () => {
  test('has modes, owners, links and long paths as tar reads them', () => {
    const long = `${'folder/'.repeat(18)}file`
    const archive = tar(
      [
        { path: 'b', mode: 0o755, bytes: Buffer.from('hello') },
        { path: 'a', mode: 0o700, owner: 10001 },
        { path: 'c', mode: 0o777, link: '../usr/lib/b' },
        { path: long, mode: 0o644, bytes: new Uint8Array(513) },
      ],
      time,
    )
    expect(archive.length % 512).toBe(0)
    expect(listed(archive, 'one.tar').replace(/ +/g, ' ')).toBe(
      [
        'drwx------ 10001/10001 0 TIME a/',
        '-rwxr-xr-x 0/0 5 TIME b',
        'lrwxrwxrwx 0/0 0 TIME c -> ../usr/lib/b',
        `-rw-r--r-- 0/0 513 TIME ${long}\n`,
      ].join('\n'),
    )
    expect(() => tar([{ path: 'x'.repeat(300), mode: 0o644 }], time)).toThrow('too long')
  })

  test('depends neither on the order of its entries nor on anything but them', () => {
    const entry = fc.record({
      path: fc.stringMatching(/^[a-z]{1,90}$/),
      mode: fc.constant(0o644),
      bytes: fc.uint8Array(),
    })
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ({ path }) => path }), (entries) => {
        expect(tar(entries.toReversed(), time)).toEqual(tar(entries, time))
      }),
      { numRuns: 50 },
    )
  })

  test('is made of a folder, by its modes and links', () => {
    const from = join(folder, 'from')
    mkdirSync(join(from, 'sub'), { recursive: true })
    writeFileSync(join(from, 'sub', 'run'), 'x')
    chmodSync(join(from, 'sub', 'run'), 0o750)
    symlinkSync('sub/run', join(from, 'link'))
    expect(entriesOf(from, 'in/').toSorted((one, other) => (one.path < other.path ? -1 : 1))).toMatchObject([
      { path: 'in/link', link: 'sub/run' },
      { path: 'in/sub' },
      { path: 'in/sub/run', mode: 0o750, bytes: Buffer.from('x') },
    ])
  })
})

describe('the image', () => {
  const executable = Buffer.from('an executable')
  const make = () => {
    const layer = serviceLayer(executable, { LICENSE: Buffer.from('MIT') }, time)
    const contents = processors.map((processor) => ({ processor, layers: [layer] }))
    return imageIndex(contents, { version: '1.2.3', time, environment: ['SVC_HOME=/data'], labels: { a: 'b' } })
  }

  test('is an index whose every digest is that of a blob, the same each time', async () => {
    const { archive, digest } = make()
    expect(sha256(archive)).toBe(sha256(make().archive))
    mkdirSync(join(folder, 'layout'))
    writeFileSync(join(folder, 'layout.tar'), archive)
    Bun.spawnSync(['tar', '--extract', '--file', join(folder, 'layout.tar'), '--directory', join(folder, 'layout')])
    const blob = async (name: string) => {
      const bytes = await Bun.file(join(folder, 'layout', 'blobs', 'sha256', name.replace('sha256:', ''))).bytes()
      expect(`sha256:${sha256(bytes)}`).toBe(name)
      return bytes
    }
    const json = async (name: string) => JSON.parse(Buffer.from(await blob(name)).toString())
    const layout = await Bun.file(join(folder, 'layout', 'index.json')).json()
    expect(layout.manifests).toMatchObject([{ digest, annotations: { 'org.opencontainers.image.ref.name': '1.2.3' } }])
    const index = await json(digest)
    expect(index.manifests.map(({ platform }: { platform: object }) => platform)).toEqual([
      { architecture: 'amd64', os: 'linux' },
      { architecture: 'arm64', os: 'linux', variant: 'v8' },
    ])
    for (const { digest } of index.manifests) {
      const image = await json(digest)
      const config = await json(image.config.digest)
      expect(config.config).toMatchObject({ User: '10001:10001', Env: ['PATH=/usr/local/bin', 'SVC_HOME=/data'] })
      const [layer] = await Promise.all(image.layers.map((each: { digest: string }) => blob(each.digest)))
      expect(config.rootfs.diff_ids).toEqual([`sha256:${sha256(Bun.gunzipSync(layer))}`])
    }
  })

  test('has svc for root only to change, and a home folder of its user', () => {
    const layer = listed(serviceLayer(executable, {}, time), 'layer.tar')
    expect(layer).toContain('-rwxr-xr-x 0/0 ')
    expect(layer).toContain('drwx------ 10001/10001')
  })

  test('has the variables of examples/Containerfile', async () => {
    expect((await containerVariables()).map((each) => each.split('=')[0])).toEqual([
      'SVC_HOME',
      'SVC_HOST',
      'BUN_JSC_heapGrowthMaxIncrease',
      'BUN_JSC_heapGrowthSteepnessFactor',
      'BUN_JSC_forceCodeBlockLiveness',
      'BUN_JSC_thresholdForOptimizeAfterWarmUp',
      'MIMALLOC_PURGE_HOLES_MIN_INTERVAL',
    ])
  })
})

describe('the bill of materials', () => {
  const debian = [
    { name: 'libc6', version: '2.36-9+deb12u14', architecture: 'amd64' },
    { name: 'netbase', version: '6.4', architecture: 'all' },
    { name: 'netbase', version: '6.4', architecture: 'all' },
  ]
  const materials = { version: manifest.version, time, npm: npmPackages(lock), debian }

  test('names all that is in the product, once, and nothing of the tools', () => {
    const bill = JSON.parse(billOfMaterials(materials))
    const names: readonly string[] = bill.components.map(({ name }: { name: string }) => name)
    const product = [...Object.keys(manifest.dependencies), 'react', 'scheduler', 'svc-page', 'svc-client']
    expect(names).toEqual(expect.arrayContaining(product))
    expect(names.filter((name) => Object.hasOwn(manifest.devDependencies, name))).toEqual([])
    const references = bill.components.map((component: { 'bom-ref': string }) => component['bom-ref'])
    expect(new Set(references).size).toBe(references.length)
    expect(bill.components.filter(({ name }: { name: string }) => name === 'netbase')).toHaveLength(1)
    expect(references).toContain('pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64&distro=debian-12')
    expect(billOfMaterials(materials)).toBe(billOfMaterials({ ...materials, npm: npmPackages(lock) }))
  })

  test('has the texts of licences, and refuses a package without one', () => {
    const list = licenceList(materials, root)
    expect(list).toContain('react 19.3.1: MIT')
    expect(list).toContain('Copyright (c) Meta Platforms')
    const without = { packages: { '': { version: '1.0.0' }, 'node_modules/some': { version: '1.0.0' } } }
    expect(() => npmPackages(without)).toThrow('no licence is named by some')
  })
})

test('the chart is packed with its image, the same each time', () => {
  const digest = `sha256:${'a'.repeat(64)}`
  const packed = packChart('registry.example.com/svc', { digest, time })
  expect(sha256(packed)).toBe(sha256(packChart('registry.example.com/svc', { digest, time })))
  const archive = Bun.gunzipSync(packed)
  expect(listed(archive, 'chart.tar')).toContain('svc/templates/deployment.yaml')
  const text = Buffer.from(archive).toString()
  expect(text).toContain('  repository: "registry.example.com/svc"\n')
  expect(text).toContain(`  digest: ${digest}\n`)
  expect(Buffer.from(Bun.gunzipSync(packChart(undefined, { digest, time }))).toString()).toContain('  digest: ""\n')
})

test('a command line that is wrong ends with 2 and the help', () => {
  const ran = (...flags: readonly string[]) =>
    Bun.spawnSync([process.execPath, join(root, 'scripts', 'release.ts'), ...flags])
  for (const flags of [['--push'], ['--unknown']]) {
    const { exitCode, stderr } = ran(...flags)
    expect([exitCode, stderr.toString()]).toEqual([2, expect.stringContaining('Usage: npm run release')])
  }
  expect(ran('--help').exitCode).toBe(0)
  const { exitCode, stderr } = ran('--any-tree', '--out', folder)
  expect([exitCode, stderr.toString()]).toEqual([1, expect.stringContaining('--force replaces it')])
})
