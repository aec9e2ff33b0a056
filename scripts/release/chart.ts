import { join } from 'node:path'
import { root } from './run.ts'
import { entriesOf, tar, type TarEntry } from './tar.ts'

export const chartFolder = join(root, 'examples', 'chart')

/**
 * Packs the chart as `helm package` does, with the image that belongs to it; Helm itself writes the time of packing.
 *
 * @param image where the image will be, such as registry.example.com/team/svc; `undefined`: the user names it
 */
export function packChart(
  image: string | undefined,
  { digest, time }: { readonly digest: string; readonly time: number },
): Uint8Array<ArrayBuffer> {
  const entries = entriesOf(chartFolder, 'svc/').map((entry): TarEntry => {
    const { path, bytes } = entry
    if (bytes === undefined) return { path, mode: 0o755 }
    const isValues = path === 'svc/values.yaml' && image !== undefined
    return { path, mode: 0o644, bytes: isValues ? withImage(bytes, image, digest) : bytes }
  })
  return Bun.gzipSync(tar(entries, time), { level: 9, library: 'libdeflate' })
}

function withImage(values: Uint8Array, image: string, digest: string): Uint8Array {
  const text = new TextDecoder()
    .decode(values)
    .replace('  repository: ""', `  repository: ${JSON.stringify(image)}`)
    .replace('  digest: ""', `  digest: ${digest}`)
  return Buffer.from(text)
}
