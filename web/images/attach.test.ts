import { describe, expect, test } from 'bun:test'
import { fitSize, imageLimits, readImages } from './attach.ts'
import type { DecodeImage, WrittenKind } from './decode-image.ts'
import { avifOf, bytesOf, exif, gifOf, jpegHead, pngHead, realImages } from './testing.ts'

/** A browser that decodes every image to this size, and encodes a kind to the number of bytes in `sizes`. */
function fakeBrowser({
  width = 10,
  height = 10,
  isOpaque = true,
  sizes = {} as Partial<Record<WrittenKind, number | readonly number[]>>,
} = {}) {
  const written: string[] = []
  let open = 0,
    most = 0
  const decode: DecodeImage = async () => {
    open += 1
    most = Math.max(most, open)
    return {
      width,
      height,
      close() {
        open -= 1
      },
      draw: (size) => ({
        isOpaque: () => isOpaque,
        async write(kind, quality) {
          const wished = sizes[kind] ?? 3,
            bytes =
              typeof wished === 'number'
                ? wished
                : (wished[written.filter((line) => line.startsWith(kind)).length] ?? 3)
          written.push(`${kind} ${size.width}×${size.height}${quality === undefined ? '' : ` ${quality}`}`)
          return bytes < 0 ? undefined : new Blob([new Uint8Array(bytes)], { type: kind })
        },
      }),
    }
  }
  return {
    decode,
    written,
    get open() {
      return open
    },
    get most() {
      return most
    },
  }
}

function file(bytes: Uint8Array<ArrayBuffer>, name = 'a.png'): File {
  return new File([bytes], name, { type: 'image/png' })
}

function padded(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length)
  whole.set(bytes)
  return whole
}

async function whyRefused(
  bytes: Uint8Array<ArrayBuffer>,
  decode: DecodeImage = fakeBrowser().decode,
): Promise<string | undefined> {
  const { images, refused } = await readImages([file(bytes)], { decode })
  expect(images.length + refused.length).toBe(1)
  return refused[0]?.why
}

const tooLarge = imageLimits.sentBytes + 1

describe('readImages', () => {
  test('keeps the bytes of a small image, and takes its type from the bytes, not the name', async () => {
    const { written, decode } = fakeBrowser({ width: 1, height: 1 })
    const { images, refused } = await readImages([file(realImages.gif.bytes, 'photo.jpg')], { decode })
    expect(refused).toEqual([])
    expect(images).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        name: 'photo.jpg',
        width: 1,
        height: 1,
        dataUrl: `data:image/gif;base64,${realImages.gif.bytes.toBase64()}`,
      },
    ])
    expect(written).toEqual([])
  })

  test('makes data URLs of any length', async () => {
    for (const length of [0x1800 - 1, 0x1800, 0x1800 + 1, 100_000]) {
      const bytes = padded(pngHead(4, 4), length).map((byte, index) => (index < 40 ? byte : index % 251))
      const { images } = await readImages([file(bytes)], { decode: fakeBrowser().decode })
      expect(images[0]?.dataUrl).toBe(`data:image/png;base64,${Buffer.from(bytes).toString('base64')}`)
    }
  })

  test('scales the longer side down to 2,048, and writes JPEG', async () => {
    const { decode, written } = fakeBrowser({ width: 4096, height: 1000 })
    const { images } = await readImages([file(jpegHead(4096, 1000))], { decode })
    expect(written).toEqual(['image/jpeg 2048×500 0.9'])
    expect(images[0]).toMatchObject({ width: 2048, height: 500, dataUrl: 'data:image/jpeg;base64,AAAA' })
  })

  test('encodes heavy, rotated and AVIF images again, in the same size', async () => {
    for (const bytes of [padded(jpegHead(10, 10), tooLarge), jpegHead(10, 10, exif(6, true)), avifOf([10, 10])]) {
      const { decode, written } = fakeBrowser()
      await readImages([file(bytes)], { decode })
      expect(written).toEqual(['image/jpeg 10×10 0.9'])
    }
  })

  test('keeps the displayed size of a rotated image', async () => {
    const { decode } = fakeBrowser({ width: 1500, height: 3000 })
    const { images } = await readImages([file(jpegHead(3000, 1500, exif(6, false)))], { decode })
    expect(images[0]).toMatchObject({ width: 1024, height: 2048 })
  })

  test('encodes PNG as PNG while that is small, else as JPEG, or as WebP if transparent', async () => {
    const cases = [
      { sizes: {}, isOpaque: true, kinds: ['image/png'] },
      { sizes: { 'image/png': tooLarge }, isOpaque: true, kinds: ['image/png', 'image/jpeg'] },
      { sizes: { 'image/png': tooLarge }, isOpaque: false, kinds: ['image/png', 'image/webp'] },
    ]
    for (const { kinds, ...looks } of cases) {
      const { decode, written } = fakeBrowser({ width: 3000, height: 3000, ...looks })
      const { images } = await readImages([file(pngHead(3000, 3000))], { decode })
      expect(written.map((line) => line.split(' ')[0] ?? '')).toEqual(kinds)
      expect(images[0]?.dataUrl).toStartWith(`data:${kinds.at(-1)};base64,`)
    }
  })

  test('keeps transparency of files other than PNG', async () => {
    const { decode, written } = fakeBrowser({ width: 3000, height: 10, isOpaque: false })
    await readImages([file(gifOf(3000, 10, [0, 0, 3000, 10]))], { decode })
    expect(written).toEqual(['image/png 2048×7'])
  })

  test('lowers the quality until the file is small, and sends PNG if the browser cannot write WebP', async () => {
    const heavy = fakeBrowser({ width: 3000, height: 3000, sizes: { 'image/jpeg': [tooLarge, tooLarge, 5] } })
    await readImages([file(jpegHead(3000, 3000))], { decode: heavy.decode })
    expect(heavy.written).toEqual(['image/jpeg 2048×2048 0.9', 'image/jpeg 2048×2048 0.75', 'image/jpeg 2048×2048 0.5'])
    const noWebp = fakeBrowser({
      width: 3000,
      height: 3000,
      isOpaque: false,
      sizes: { 'image/png': imageLimits.sentBytes, 'image/webp': -1 },
    })
    const { images } = await readImages([file(pngHead(3000, 3000))], { decode: noWebp.decode })
    expect(images[0]?.dataUrl).toStartWith('data:image/png;base64,')
  })

  test('refuses files that are not images, broken, or too large, with reasons', async () => {
    expect(await whyRefused(bytesOf('<svg xmlns="http://www.w3.org/2000/svg"/>'))).toContain('SVG')
    expect(await whyRefused(bytesOf([0, 0, 0, 24], 'ftypheic', [0, 0, 0, 0], 'mif1heic'))).toContain('HEIC')
    expect(await whyRefused(bytesOf('hello'))).toContain('PNG, JPEG, WebP, GIF and AVIF')
    expect(await whyRefused(realImages.png.bytes.slice(0, 20))).toContain('broken')
    expect(
      await whyRefused(pngHead(9, 9), async () => {
        throw new Error('no')
      }),
    ).toContain('broken')
    expect(await whyRefused(padded(pngHead(9, 9), imageLimits.fileBytes + 1))).toContain('larger than 20 MB')
  })

  test('does not decode more than 100 million pixels', async () => {
    const browser = fakeBrowser()
    expect(await whyRefused(pngHead(20_000, 5_001), browser.decode)).toContain('20,000 × 5,001')
    expect(await whyRefused(avifOf([1, 1], [65_000, 65_000]), browser.decode)).toContain('million')
    expect(browser.most).toBe(0)
    expect(await whyRefused(pngHead(20_000, 5_000), browser.decode)).toBeUndefined()
  })

  test('refuses files that cannot be read any more', async () => {
    const gone = Object.assign(file(pngHead(1, 1)), {
      arrayBuffer: () => Promise.reject(new DOMException('gone', 'NotFoundError')),
    })
    expect((await readImages([gone], { decode: fakeBrowser().decode })).refused).toEqual([
      { name: 'a.png', why: 'It could not be read.' },
    ])
  })

  test('accepts ten images a message, including those already attached', async () => {
    const { decode } = fakeBrowser()
    const files = [
      file(bytesOf('no'), 'no'),
      ...Array.from({ length: 12 }, (_, index) => file(pngHead(2, 2), `${index}`)),
    ]
    const first = await readImages(files, { decode })
    expect(first.images.map(({ name }) => name)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    expect(first.refused.map(({ name }) => name)).toEqual(['no', '10', '11'])
    const more = await readImages(files.slice(1, 3), { decode, attached: first.images.slice(1) })
    expect([more.images.length, more.refused.length]).toEqual([1, 1])
  })

  test('refuses images that together exceed the limit', async () => {
    const { decode } = fakeBrowser()
    const heavy = file(padded(pngHead(2, 2), imageLimits.sentBytes))
    const { images, refused } = await readImages(
      Array.from({ length: 6 }, () => heavy),
      { decode },
    )
    expect([images.length, refused.length]).toEqual([4, 2])
    expect(refused[0]?.why).toContain('Together')
  })

  test('has one decoded image in memory at a time, and frees each', async () => {
    const browser = fakeBrowser({ width: 3000, height: 3000, sizes: { 'image/png': -1, 'image/jpeg': -1 } })
    const { refused } = await readImages(
      [file(pngHead(3000, 3000)), file(pngHead(3000, 3000)), file(realImages.gif.bytes)],
      { decode: browser.decode },
    )
    expect(refused.map(({ why }) => why)).toEqual([
      'This browser could not scale it down.',
      'This browser could not scale it down.',
    ])
    expect([browser.most, browser.open]).toEqual([1, 0])
  })
})

describe('fitted', () => {
  test.each([
    [4096, 2048, 2048, 1024],
    [100, 8000, 26, 2048],
    [2048, 2048, 2048, 2048],
    [1, 100_000, 1, 2048],
  ])('%d × %d becomes %d × %d', (width, height, toWidth, toHeight) => {
    expect(fitSize({ width, height })).toEqual({ width: toWidth, height: toHeight })
  })
})
