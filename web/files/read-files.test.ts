import { describe, expect, test } from 'bun:test'
import { pngHead } from '../images/testing.ts'
import { fileLimits, readFiles, type ReadFilesOptions } from './read-files.ts'
import { encrypted, pdfOf } from './testing.ts'

const file = (content: BlobPart, name = 'a.txt'): File => new File([content], name)
const bytes = (...values: readonly number[]): Uint8Array<ArrayBuffer> => Uint8Array.from(values)

/** The texts by name, and after `!` why others were refused. */
async function read(given: readonly File[], options?: ReadFilesOptions) {
  const { files, refused } = await readFiles(given, options)
  return [...files.map(({ name, text }) => `${name}: ${text}`), ...refused.map(({ name, why }) => `${name}! ${why}`)]
}

describe('files', () => {
  test.each<readonly [string, BlobPart, string]>([
    ['UTF-8', 'Grüße 👋', 'Grüße 👋'],
    ['UTF-8 with a mark', bytes(0xef, 0xbb, 0xbf, 0x61), 'a'],
    ['UTF-16, little end first', bytes(0xff, 0xfe, 0x61, 0, 0xac, 0x20), 'a€'],
    ['UTF-16, big end first', bytes(0xfe, 0xff, 0, 0x61), 'a'],
    ['Windows-1252', bytes(0x47, 0x72, 0xfc, 0xdf, 0x65, 0x80), 'Grüße€'],
    ['lines of other systems', 'a\r\nb\rc\n', 'a\nb\nc\n'],
    ['markup', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['a drawing', '<svg xmlns="http://www.w3.org/2000/svg"/>', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['colours of a terminal', '\u001b[31mred', '\u001b[31mred'],
  ])('of %s are text', async (_, content, text) => {
    expect(await read([file(content)])).toEqual([`a.txt: ${text}`])
  })

  test.each<readonly [string, File, string]>([
    ['nothing', file(''), 'It is empty.'],
    ['blanks', file(' \n\t'), 'It has no text.'],
    ['a program', file(bytes(0x4d, 0x5a, 0, 3, 4), 'a.txt'), 'It is neither text, nor a PDF, nor a picture'],
    ['an archive', file(bytes(0x50, 0x4b, 3, 4, 20, 0, 0, 0)), 'It is neither text'],
    ['half of UTF-16', file(bytes(0xff, 0xfe, 0x61)), 'It is neither text'],
    ['much', file(new Uint8Array(fileLimits.bytes + 1)), 'It is larger than 20 MB.'],
    ['a picture that cannot be sent', file(pngHead(50_000, 50_000), 'a.txt'), 'It has 50,000 × 50,000 pixels'],
    [
      'what was deleted',
      Object.assign(file('x'), { arrayBuffer: () => Promise.reject(new DOMException('gone', 'NotFoundError')) }),
      'It could not be read.',
    ],
  ])('of %s are refused', async (_, given, why) => {
    const [line, ...rest] = await read([given])
    expect([line, rest]).toEqual([expect.stringContaining(`a.txt! ${why}`), []])
  })

  test('are ten a message, and two million characters, with those attached before', async () => {
    const many = await readFiles(Array.from({ length: 11 }, (_, index) => file(`${index}`)))
    expect([many.files.length, many.refused.map(({ why }) => why)]).toEqual([
      10,
      ['At most 10 files fit into one message.'],
    ])
    const attached = { images: [], files: [{ id: '1', name: 'b', text: 'x'.repeat(1_500_000) }] }
    const half = 'y'.repeat(400_000)
    expect((await read([file(half), file(half), file('z')], { attached })).map((line) => line.slice(0, 60))).toEqual([
      `a.txt: ${half.slice(0, 53)}`,
      'a.txt: z',
      'a.txt! Together the files of this message would be too long: '.slice(0, 60),
    ])
  })

  test('without a name, or with a long one, get one', async () => {
    const { files } = await readFiles([file('a', ''), file('b', 'n'.repeat(300))])
    expect(files.map(({ name }) => name)).toEqual(['file', 'n'.repeat(200)])
  })

  test('are left out once the signal aborts', async () => {
    const abort = new AbortController()
    const { files, refused } = await readFiles([file('a', '1'), file('b', '2')], {
      signal: abort.signal,
      onProgress: (what) => {
        if (what === '2') abort.abort()
      },
    })
    expect([files.map(({ name }) => name), refused]).toEqual([['1'], []])
  })
})

describe('PDF files', () => {
  const pdf = (pages: readonly string[], more?: string) => file(pdfOf(pages, more), 'a.pdf')

  test('are read page by page, with their lines', async () => {
    const seen: string[] = []
    const lines = await read([pdf(['Hello (you)\nthere', 'Second page'])], {
      onProgress: (what) => void seen.push(what),
    })
    expect(lines).toEqual(['a.pdf: Hello (you)\nthere\n\nSecond page'])
    expect(seen).toEqual(['a.pdf', 'a.pdf, page 1 of 2', 'a.pdf, page 2 of 2'])
  })

  test.each([
    ['without text', pdf(['', '']), 'It has no text, only pictures of pages'],
    ['cut off', file(pdfOf(['x'.repeat(500)]).slice(0, 40), 'a.pdf'), 'It is a damaged PDF.'],
    ['of noise', file(`%PDF-1.7\n${'\u0001\u0002x'.repeat(2_000)}`, 'a.pdf'), 'It is a damaged PDF.'],
    ['with a password', pdf(['secret'], encrypted), 'It needs a password: save it without one.'],
  ])('%s are refused', async (_, given, why) => {
    const [line] = await read([given])
    expect(line).toStartWith(`a.pdf! ${why}`)
  })

  test('of many pages can be cancelled', async () => {
    const abort = new AbortController()
    const { files, refused } = await readFiles([pdf(Array.from({ length: 500 }, (_, page) => `Page ${page}`))], {
      signal: abort.signal,
      onProgress: (what) => {
        if (what.includes('page 3 of 500')) abort.abort()
      },
    })
    expect([files, refused]).toEqual([[], []])
  })

  test('that are too long are not read to their end', async () => {
    const seen: string[] = []
    const attached = { images: [], files: [{ id: '1', name: 'b', text: 'x'.repeat(fileLimits.characters - 100) }] }
    const long = pdf(Array.from({ length: 9 }, () => 'word '.repeat(15)))
    const [line] = await read([long], { attached, onProgress: (what) => void seen.push(what) })
    expect([line, seen.at(-1)]).toEqual([expect.stringContaining('too long'), 'a.pdf, page 2 of 9'])
  })
})
