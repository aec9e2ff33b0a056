import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readImageHeader } from './image-header.ts'
import {
  avifOf,
  big,
  box,
  bytesOf,
  exif,
  gifOf,
  jpegHead,
  jpegSegment,
  little,
  pngHead,
  realImages,
} from './testing.ts'

function sizeOf(bytes: Uint8Array): readonly [number, number] | string {
  const header = readImageHeader(bytes)
  return 'size' in header ? [header.size.width, header.size.height] : header.kind
}

type Row = readonly [name: string, size: readonly [number, number], bytes: Uint8Array]

const upright = { isUpright: true, isAnimated: false }

describe('readImageHeader', () => {
  test.each(Object.entries(realImages).map(([name, { size, bytes }]): Row => [name, size, bytes]))(
    'reads %s',
    (name, [width, height], bytes) => {
      const kind = name.split(',')[0] ?? '',
        isAnimated = name.includes('animated')
      expect<unknown>(readImageHeader(bytes)).toEqual({ ...upright, kind, isAnimated, size: { width, height } })
    },
  )

  test('reads sizes of PNG, JPEG, WebP and AVIF as large as they get', () => {
    expect(sizeOf(pngHead(2 ** 31 - 1, 70_000))).toEqual([2 ** 31 - 1, 70_000])
    expect(sizeOf(jpegHead(65_535, 40_000))).toEqual([65_535, 40_000])
    expect(
      sizeOf(
        bytesOf('RIFF', big(0, 4), 'WEBPVP8X', little(10, 4), big(0, 4), little(2 ** 24 - 1, 3), little(99_999, 3)),
      ),
    ).toEqual([2 ** 24, 100_000])
    expect(
      sizeOf(bytesOf('RIFF', big(0, 4), 'WEBPVP8L', little(9, 4), 0x2f, little(16_383 + 16_382 * 2 ** 14, 4))),
    ).toEqual([16_384, 16_383])
    expect(sizeOf(avifOf([512, 512], [40_000, 30_000], [8, 8]))).toEqual([40_000, 30_000])
  })

  test('skips segments before the frame of a JPEG', () => {
    const before = [
      jpegSegment(0xe0, 'JFIF\0'),
      bytesOf([0xff, 0xff, 0xff, 0x01]),
      jpegSegment(0xc4, [1, 2, 3]),
      jpegSegment(0xe1, 'http://ns.adobe.com/xap/'),
    ]
    expect(sizeOf(jpegHead(30, 20, ...before))).toEqual([30, 20])
  })

  test.each([
    [1, true],
    [6, true],
    [8, false],
    [3, false],
    [1, false],
  ])('reads the EXIF orientation of a JPEG: %d', (orientation, isLittle) => {
    expect(readImageHeader(jpegHead(3, 2, exif(orientation, isLittle)))).toMatchObject({
      size: { width: 3, height: 2 },
      isUpright: orientation === 1,
    })
  })

  test('reads the first image of a GIF if it exceeds the screen, and detects animation', () => {
    expect(readImageHeader(gifOf(10, 10, [0, 0, 10, 10]))).toEqual({
      ...upright,
      kind: 'gif',
      size: { width: 10, height: 10 },
    })
    expect(sizeOf(gifOf(1, 1, [5, 0, 60_000, 50_000]))).toEqual([60_005, 50_000])
    expect(readImageHeader(gifOf(10, 10, [0, 0, 10, 10], [1, 1, 2, 2]))).toMatchObject({ isAnimated: true })
  })

  test('detects an animated PNG', () => {
    expect(readImageHeader(pngHead(1, 1, 'tEXt', 'acTL', 'IDAT'))).toMatchObject({ isAnimated: true })
    expect(readImageHeader(pngHead(1, 1, 'IDAT', 'acTL'))).toMatchObject({ isAnimated: false })
  })

  test('reads the tracks of an animated AVIF', () => {
    const track = box(
      'moov',
      box('trak', box('tkhd', new Uint8Array(76), big(640, 2), big(0, 2), big(480, 2), big(0, 2))),
    )
    expect(sizeOf(bytesOf(box('ftyp', 'avis', big(0, 4), 'avis'), track))).toEqual([640, 480])
  })

  const others: readonly (readonly [string, Uint8Array])[] = [
    ['svg', bytesOf('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['svg', bytesOf('\xef\xbb\xbf <?xml version="1.0"?>\n<!-- x --><svg>')],
    ['heic', box('ftyp', 'heic', big(0, 4), 'mif1')],
    ['unknown', box('ftyp', 'isom', big(0, 4), 'mp42')],
    ['unknown', bytesOf('<html><body>')],
    ['unknown', bytesOf('BM', new Uint8Array(60))],
    ['unknown', new Uint8Array()],
    ['unknown', bytesOf('%PDF-1.7')],
  ]
  test.each(others)('recognises %s', (kind, bytes) => {
    expect<unknown>(readImageHeader(bytes)).toEqual({ kind })
  })

  const broken: readonly (readonly [string, Uint8Array])[] = [
    ['png', pngHead(0, 5)],
    ['png', bytesOf('\x89PNG\r\n\x1a\n')],
    ['jpeg', bytesOf([0xff, 0xd8, 0xff, 0xd9])],
    ['jpeg', bytesOf([0xff, 0xd8, 0xff, 0xe0, 0, 0])],
    ['jpeg', bytesOf([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0x55])],
    ['gif', bytesOf('GIF89a')],
    ['webp', bytesOf('RIFF', big(0, 4), 'WEBPVP8 ')],
    ['avif', box('ftyp', 'avif', big(0, 4))],
    ['avif', avifOf([0, 9])],
  ]
  test.each(broken)('finds a broken %s', (of, bytes) => {
    expect<unknown>(readImageHeader(bytes)).toEqual({ kind: 'broken', of })
  })

  test('never throws and always ends, for any bytes', () => {
    const starts = [
      ...Object.values(realImages).map(({ bytes }) => bytes),
      jpegHead(3, 2, exif(6, true)),
      gifOf(2, 2, [0, 0, 2, 2]),
      avifOf([1, 1]),
      bytesOf('<svg>'),
    ]
    const damaged = fc
      .tuple(
        fc.constantFrom(...starts),
        fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 })), { maxLength: 12 }),
        fc.nat(400),
      )
      .map(([bytes, changes, length]) => {
        const copy = bytes.slice(0, length)
        for (const [at, value] of changes) if (at < copy.length) copy[at] = value
        return copy
      })
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        const header = readImageHeader(bytes)
        if ('size' in header)
          expect(header.size.width >= 1 && header.size.height >= 1 && Number.isSafeInteger(header.size.width * 1)).toBe(
            true,
          )
      }),
      { numRuns: 2_000 },
    )
  })

  describe('reads few bytes more than once', () => {
    const many = (head: Uint8Array, piece: readonly number[]): Uint8Array => {
      const bytes = new Uint8Array(100_000)
      for (let at = head.length; at + piece.length <= bytes.length; at += piece.length) bytes.set(piece, at)
      bytes.set(head)
      return bytes
    }

    test.each([
      ['boxes', many(box('ftyp', 'avif', big(0, 4)), [...box('free')])],
      ['chunks', many(pngHead(1, 1), [...big(0, 4), 0x74, 0x45, 0x58, 0x74, ...big(0, 4)])],
      ['blocks', many(gifOf(1, 1).slice(0, -1), [0x21, 0xfe, 0])],
      ['segments', many(bytesOf([0xff, 0xd8]), [...jpegSegment(0xe0)])],
      ['Exif segments', many(bytesOf([0xff, 0xd8]), [...jpegSegment(0xe1, 'Exif\0\0II')])],
    ])('of a file made of the smallest %s', (_, bytes) => {
      const { counted, reads } = counting(bytes)
      expect(readImageHeader(counted)).toEqual(readImageHeader(bytes))
      expect(reads()).toBeGreaterThan(0)
      expect(reads()).toBeLessThan(3 * bytes.length)
    })
  })
})

/** Counts the bytes read, singly or as a range. */
function counting(bytes: Uint8Array): { readonly counted: Uint8Array; readonly reads: () => number } {
  let count = 0
  const counted = new Proxy(bytes, {
    get(target, key) {
      if (key === 'subarray')
        return (start: number, end: number) => {
          count += end - start
          return target.subarray(start, end)
        }
      if (key !== 'length') count += 1
      return Reflect.get(target, key, target)
    },
  })
  return { counted, reads: () => count }
}
