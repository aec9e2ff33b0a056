import { createHash } from 'node:crypto'
import { tar, type TarEntry } from './tar.ts'

/** A processor, by the names of npm, Debian and OCI. */
export const processors = [
  { npm: 'x64', bun: 'x64', debian: 'amd64', platform: { architecture: 'amd64', os: 'linux' } },
  { npm: 'arm64', bun: 'aarch64', debian: 'arm64', platform: { architecture: 'arm64', os: 'linux', variant: 'v8' } },
] as const
export type Processor = (typeof processors)[number]

/** What one image holds. */
export interface ImageContent {
  readonly processor: Processor
  /** From the base up, each as a tar archive. */
  readonly layers: readonly Uint8Array<ArrayBuffer>[]
}

/** What both images say of themselves. */
export interface ImageFacts {
  readonly version: string
  /** Seconds since 1970. */
  readonly time: number
  /** Variables, as `NAME=value`. */
  readonly environment: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/** An image index as an OCI layout (image-spec v1.1.1), in one archive. */
export interface ImageIndex {
  readonly archive: Uint8Array<ArrayBuffer>
  /** `sha256:…` of the index: what is signed, and named by a chart. */
  readonly digest: string
}

const mediaType = (name: string) => `application/vnd.oci.image.${name}`

/**
 * Writes images of several processors as one index. Docker's HEALTHCHECK is not part of OCI: the compose file and the
 * chart have health checks.
 */
export function imageIndex(contents: readonly ImageContent[], facts: ImageFacts): ImageIndex {
  const blobs = new Map<string, Uint8Array>()
  const add = (type: string, bytes: Uint8Array) => {
    const hash = sha256(bytes)
    blobs.set(hash, bytes)
    return { mediaType: mediaType(type), digest: `sha256:${hash}`, size: bytes.length }
  }
  const addJson = (type: string, value: object) => add(type, Buffer.from(JSON.stringify(value)))
  const manifests = contents.map(({ processor: { platform }, layers }) => {
    const manifest = {
      schemaVersion: 2,
      mediaType: mediaType('manifest.v1+json'),
      config: addJson('config.v1+json', imageConfig(platform, layers, facts)),
      layers: layers.map((layer) => add('layer.v1.tar+gzip', Bun.gzipSync(layer, { level: 6, library: 'libdeflate' }))),
      annotations: facts.labels,
    }
    return { ...addJson('manifest.v1+json', manifest), platform }
  })
  const index = addJson('index.v1+json', {
    schemaVersion: 2,
    mediaType: mediaType('index.v1+json'),
    manifests,
    annotations: facts.labels,
  })
  const layout = { schemaVersion: 2, mediaType: mediaType('index.v1+json'), manifests: [named(index, facts.version)] }
  return { archive: layoutArchive(blobs, layout, facts.time), digest: index.digest }
}

function imageConfig(
  platform: Processor['platform'],
  layers: readonly Uint8Array[],
  { time, environment, labels }: ImageFacts,
): object {
  const created = new Date(time * 1000).toISOString()
  return {
    ...platform,
    created,
    config: {
      User: '10001:10001',
      Env: ['PATH=/usr/local/bin', ...environment],
      Entrypoint: ['/usr/local/bin/svc'],
      ExposedPorts: { '8000/tcp': {} },
      WorkingDir: '/data',
      StopSignal: 'SIGTERM',
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
    history: layers.map(() => ({ created, created_by: 'npm run release' })),
  }
}

function named(index: object, version: string): object {
  return { ...index, annotations: { 'org.opencontainers.image.ref.name': version } }
}

function layoutArchive(blobs: ReadonlyMap<string, Uint8Array>, layout: object, time: number): Uint8Array<ArrayBuffer> {
  const file = (path: string, bytes: Uint8Array): TarEntry => ({ path, mode: 0o644, bytes })
  return tar(
    [
      { path: 'blobs', mode: 0o755 },
      { path: 'blobs/sha256', mode: 0o755 },
      ...Array.from(blobs, ([hash, bytes]) => file(`blobs/sha256/${hash}`, bytes)),
      file('index.json', Buffer.from(JSON.stringify(layout))),
      file('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')),
    ],
    time,
  )
}

/** In hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
