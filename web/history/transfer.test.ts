import { describe, expect, test } from 'bun:test'
import { HtmlRenderer, Parser } from 'commonmark'
import fc from 'fast-check'
import type { Conversation, HistoryStore } from './conversation.ts'
import { exportMarkdown } from './export-markdown.ts'
import { memoryHistory } from './memory-history.ts'
import { conversationSizeMax } from './parse-conversation.ts'
import { fileNameOf } from './save-file.ts'
import { answerOf, conversationOf, failureOf, questionOf } from './testing.ts'
import { exportJson, importBytesMax, importJson } from './transfer.ts'

const now = new Date('2026-11-21T12:00:00Z')

function fileOf(conversations: readonly unknown[], head: Readonly<Record<string, unknown>> = {}): Blob {
  return new Blob([
    JSON.stringify({ format: 'svc-conversations', version: 1, exported: now.toISOString(), conversations, ...head }),
  ])
}

async function historyWith(...conversations: readonly Conversation[]): Promise<HistoryStore> {
  const history = memoryHistory()
  for (const each of conversations) await history.put(each)
  return history
}

async function refusal(content: Blob): Promise<string> {
  const history = memoryHistory()
  const error = await failureOf(importJson(content, history))
  expect(await history.heads()).toEqual([])
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

describe('a file of conversations', () => {
  test('has a head, and one conversation a line', async () => {
    const lines = (await (await exportJson([conversationOf(), conversationOf({ id: 'c2' })], now)).text()).split('\n')
    expect(lines[0]).toBe(
      '{"format":"svc-conversations","version":1,"exported":"2026-11-21T12:00:00.000Z","conversations":[',
    )
    expect(lines.slice(1)).toEqual([
      `${JSON.stringify(conversationOf())},`,
      JSON.stringify(conversationOf({ id: 'c2' })),
      ']}',
      '',
    ])
    expect(JSON.parse(await (await exportJson([], now)).text())).toEqual({
      format: 'svc-conversations',
      version: 1,
      exported: '2026-11-21T12:00:00.000Z',
      conversations: [],
    })
  })

  test('with versions of messages is of version 2', async () => {
    const file = await exportJson([conversationOf(), conversationOf({ id: 'c2', leaf: 'm1' })], now)
    expect((await file.text()).startsWith('{"format":"svc-conversations","version":2,')).toBe(true)
  })

  test('imports everything into another browser, and nothing twice', async () => {
    const conversations = [
      conversationOf(),
      conversationOf({
        id: 'c3',
        messages: [questionOf('m1', 'a'), questionOf('m2', 'A'), { ...answerOf('complete'), parent: 'm1' }],
        leaf: 'm2',
      }),
      conversationOf({
        id: 'c2',
        messages: [questionOf('m1', '\ud800 \u2028 "', ['i1', 'i2']), answerOf('stopped')],
        isPinned: true,
      }),
    ]
    const file = await exportJson(conversations, now),
      history = memoryHistory()
    const progress: string[] = []
    expect(await importJson(file, history, (done, all) => progress.push(`${done}/${all}`))).toEqual({
      added: 3,
      same: 0,
      faults: [],
    })
    expect([await history.all(), progress]).toEqual([conversations, ['1/3', '2/3', '3/3']])
    expect(await importJson(file, history)).toEqual({ added: 0, same: 3, faults: [] })
    expect(await history.all()).toEqual(conversations)
  })

  test('overwrites nothing: a different conversation gets another id', async () => {
    const history = await historyWith(conversationOf({ title: 'Mine' }))
    expect(
      await importJson(fileOf([conversationOf({ title: 'Theirs' }), conversationOf({ title: 'Mine' })]), history),
    ).toEqual({ added: 1, same: 1, faults: [] })
    const found = await history.all()
    expect(found.map(({ title }) => title)).toEqual(['Mine', 'Theirs'])
    expect(found.map(({ id }) => id === 'c1')).toEqual([true, false])
  })

  test('may have two conversations with one id: both are imported', async () => {
    const history = memoryHistory()
    expect(
      (
        await importJson(
          fileOf([conversationOf({ title: 'A' }), conversationOf({ title: 'B' }), conversationOf({ title: 'A' })]),
          history,
        )
      ).added,
    ).toBe(2)
    expect((await history.heads()).length).toBe(2)
  })

  test('restores removed conversations', async () => {
    const history = await historyWith(conversationOf())
    await history.remove('c1')
    expect((await importJson(fileOf([conversationOf()]), history)).added).toBe(1)
    expect(await history.all()).toEqual([conversationOf()])
  })

  test('with faults: each is reported with position and reason, and the others are imported', async () => {
    const evil = {
      ...conversationOf({ id: 'e', title: 'Evil \u202e\n one' }),
      messages: [
        {
          ...questionOf('m', 'x', ['i']),
          images: [{ id: 'i', name: 'x', dataUrl: 'javascript:alert(1)', width: 1, height: 1 }],
        },
      ],
    }
    const history = memoryHistory()
    expect(
      await importJson(
        fileOf([
          5,
          conversationOf(),
          null,
          evil,
          { ...conversationOf({ id: 'c3' }), updated: '2026' },
          conversationOf({ id: 'c2' }),
        ]),
        history,
      ),
    ).toEqual({
      added: 2,
      same: 0,
      faults: [
        { place: 1, why: 'expected an object, found the number 5' },
        { place: 3, why: 'expected an object, found null' },
        {
          place: 4,
          title: 'Evil one',
          why:
            'messages[0].images[0].dataUrl: is not a picture: ' +
            'only data:image/png, jpeg, webp, gif and avif in base64 are accepted',
        },
        { place: 5, title: 'Monads', why: 'updated: expected a number, found a text' },
      ],
    })
    expect((await history.all()).map(({ id }) => id)).toEqual(['c1', 'c2'])
  })

  test('that exceeds the storage: refused conversations are reported, and not half stored', async () => {
    const history = memoryHistory()
    const small: HistoryStore = {
      ...history,
      get fault() {
        return fault
      },
      async restore(conversation) {
        await history.restore(conversation)
        fault = (await history.heads()).length > 1 ? 'full' : undefined
      },
    }
    let fault: HistoryStore['fault']
    expect(await importJson(fileOf([1, 2, 3].map((index) => conversationOf({ id: `c${index}` }))), small)).toEqual({
      added: 1,
      same: 0,
      faults: [2, 3].map((place) => ({ place, title: 'Monads', why: 'the browser’s storage is full' })),
    })
    expect((await history.heads()).map(({ id }) => id)).toEqual(['c1'])
  })
})

describe('a file is refused', () => {
  test.each([
    ['empty', '', 'The file is not JSON, or it is incomplete.'],
    [
      'cut',
      '{"format":"svc-conversations","version":1,"conversations":[{',
      'The file is not JSON, or it is incomplete.',
    ],
    ['a list', '[]', 'The file has no conversations of this service. Choose a file made by Export here.'],
    [
      'another format',
      '{"format":"chat","version":1,"conversations":[]}',
      'The file has no conversations of this service. Choose a file made by Export here.',
    ],
    [
      'without conversations',
      '{"format":"svc-conversations","version":1,"conversations":{}}',
      'The file has no conversations of this service. Choose a file made by Export here.',
    ],
    [
      'newer',
      '{"format":"svc-conversations","version":3,"conversations":[]}',
      'The file is of version 3. This page reads versions 1 and 2.',
    ],
    [
      'all in a prototype',
      '{"__proto__":{"format":"svc-conversations","version":1,"conversations":[]}}',
      'The file has no conversations of this service. Choose a file made by Export here.',
    ],
    [
      'too many',
      `{"format":"svc-conversations","version":1,"conversations":[${'0,'.repeat(100_000)}0]}`,
      'The file holds 100,001 conversations. At most 100,000 are read.',
    ],
    ['very deep', '['.repeat(1_000_000), 'The file is not JSON, or it is incomplete.'],
  ])('that is %s', async (_what, text, message) => {
    expect(await refusal(new Blob([text]))).toBe(`ImportRefused: ${message}`)
  })

  test('that is larger than 100 MB, before it is read', async () => {
    const huge = new Blob([])
    Object.defineProperty(huge, 'size', { value: importBytesMax + 1 })
    huge.text = () => Promise.reject(new Error('read'))
    expect(await refusal(huge)).toBe('ImportRefused: The file has 101 MB. At most 100 MB are read.')
  })
})

describe('a hostile file', () => {
  test('with names of prototype members is harmless', async () => {
    const text = JSON.stringify(conversationOf()).replace(
      '{',
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},',
    )
    const history = memoryHistory()
    expect(
      (
        await importJson(
          new Blob([`{"format":"svc-conversations","version":1,"__proto__":{"polluted":1},"conversations":[${text}]}`]),
          history,
        )
      ).added,
    ).toBe(1)
    expect(await history.all()).toEqual([conversationOf()])
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('with too large a conversation loses only that one', async () => {
    const history = memoryHistory()
    const report = await importJson(
      fileOf([
        conversationOf({ id: 'big', messages: [questionOf('m1', 'x'.repeat(conversationSizeMax))] }),
        conversationOf(),
      ]),
      history,
    )
    expect([report.added, report.faults.map(({ why }) => why.slice(0, 12))]).toEqual([1, ['is too large']])
  })

  test('of any content is refused or imported in part, and throws nothing else', async () => {
    const part = fc.oneof(
      fc.anything(),
      fc.record({
        role: fc.constantFrom('user', 'assistant', 'x'),
        id: fc.string(),
        time: fc.anything(),
        text: fc.anything(),
        images: fc.anything(),
      }),
    )
    const entry = fc.oneof(
      fc.anything(),
      fc
        .record({
          id: fc.constantFrom('a', 'b', '', '__proto__'),
          title: fc.oneof(fc.string(), fc.anything()),
          messages: fc.oneof(fc.array(part), fc.anything()),
        })
        .map((changes) => ({ ...conversationOf(), ...changes })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 5 }), async (entries) => {
        const history = memoryHistory()
        let text: string | undefined
        try {
          text = JSON.stringify(
            { format: 'svc-conversations', version: 1, conversations: entries },
            (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
          )
        } catch {
          // fc.anything creates objects whose toJSON cannot be called.
          return
        }
        const { added, same, faults } = await importJson(new Blob([text]), history)
        expect(added + same + faults.length).toBe(entries.length)
        const kept = await history.all()
        expect(kept.length).toBe(added)
        const again = memoryHistory()
        expect((await importJson(await exportJson(kept, now), again)).faults).toEqual([])
        expect(JSON.stringify(await again.all())).toBe(JSON.stringify(kept))
      }),
      { numRuns: 200 },
    )
  })
})

describe('Markdown', () => {
  test('has the shown versions only', () => {
    const messages = [questionOf('a', 'first'), questionOf('b', 'second'), { ...questionOf('c', 'third'), parent: 'b' }]
    const text = exportMarkdown(conversationOf({ messages, leaf: 'c' }))
    expect([text.includes('first'), text.includes('second'), text.includes('third')]).toEqual([false, true, true])
  })

  test('has the questions, the answers and their provenance', () => {
    expect(exportMarkdown(conversationOf())).toBe(
      [
        '# Monads',
        '*gpt · 1970-01-01*',
        '## System',
        'Be brief',
        '## You',
        '![a.png](data:image/png;base64,AAAA)',
        'What is a monad?',
        '## Assistant (gpt-1 · openai)',
        '<details><summary>Reasoning</summary>',
        'Hm',
        '</details>',
        'A burrito.',
      ].join('\n\n') + '\n',
    )
  })

  test.each([
    ['```js\nconst a', '```js\nconst a\n```'],
    ['````\n```\n', '````\n```\n````'],
    ['~~~\n```', '~~~\n```\n~~~'],
    ['```\na\n```\nb', '```\na\n```\nb'],
    ['    ```', '    ```'],
  ])('closes the code block of %j', (text, closed) => {
    expect(exportMarkdown(conversationOf({ messages: [questionOf('m', text), questionOf('n', 'next')] }))).toContain(
      `## You\n\n${closed}\n\n## You\n\nnext\n`,
    )
  })

  test.each([
    ['```npm install``` installs it', '```npm install``` installs it'],
    ['- ```\n  a\n  ```', '- ```\n  a\n  ```'],
    ['1. ```sh\n   a\n   ```\n\nb', '1. ```sh\n   a\n   ```\n\nb'],
    ['> ```\n> a', '> ```\n> a'],
    ['<!-- a', '<!-- a\n-->'],
    ['<script>\na', '<script>\na\n</script>'],
    ['$$\n```\n$$', '$$\n```\n$$\n```'],
    ['<details>\n\n```\n</details>', '<details>\n\n```\n</details>\n```'],
  ])('ends in %j only what is open', (text, closed) => {
    expect(exportMarkdown(conversationOf({ messages: [questionOf('m', text), questionOf('n', 'next')] }))).toContain(
      `## You\n\n${closed}\n\n## You\n\nnext\n`,
    )
  })

  test('is read back by a reader of CommonMark as each message was, but for an added end of raw HTML', () => {
    // Blank lines behind an open block in a list belong to it.
    const read = (text: string): string =>
      new HtmlRenderer().render(new Parser().parse(text)).replaceAll(/\n+(?=\n|<\/code>)/g, '')
    const ends = ['</script>', '-->', '?>', '>', ']]>']
    const parts = [
      ...[
        '```',
        '~~~~',
        '```js',
        '```a```',
        '- ',
        '1. ',
        '2. ',
        '> ',
        '# ',
        '    ',
        '  ',
        '\t',
        '\n',
        '\n',
        '\n\n',
        '\r',
      ],
      ...[
        '<!-- ',
        '<script>',
        '<?a ',
        '<!A ',
        '<![CDATA[',
        '<div>',
        '<details>',
        '</details>',
        '<b>',
        '$$',
        '\\[',
        '\\]',
      ],
      ...['| a |', '|---|', ':--', '---', '===', '**', '`', 'word', '&amp;', ...ends],
    ]
    const texts = fc.array(fc.constantFrom(...parts), { maxLength: 14 }).map((chosen) => chosen.join(''))
    fc.assert(
      fc.property(texts, texts, (first, second) => {
        const messages = [questionOf('m', first), questionOf('n', second), questionOf('o', 'last')]
        const shown = read(exportMarkdown(conversationOf({ messages })))
        const alone = (text: string): readonly string[] =>
          [text, text.trimEnd(), ...ends.map((end) => `${text.replace(/\n$/, '')}\n${end}`)].map(read)
        const heading = '<h2>You</h2>\n'
        const may = alone(first).flatMap((one) => alone(second).map((two) => `${heading}${one}${heading}${two}`))
        const messagesShown = shown.slice(shown.indexOf(heading))
        expect(may.map((each) => `${each}${heading}<p>last</p>\n`)).toContain(messagesShown)
      }),
      { numRuns: 400, seed: 1 },
    )
  })

  test('names the day of the person', () => {
    const before = process.env['TZ']
    try {
      process.env['TZ'] = 'America/Los_Angeles'
      expect(exportMarkdown(conversationOf({ created: Date.UTC(2026, 10, 29, 3) }))).toContain('2026-11-28*')
    } finally {
      process.env['TZ'] = before ?? ''
    }
  })

  test('says how an answer ended, and escapes names', () => {
    const failed = { ...answerOf('failed'), text: '', error: { kind: 'wire' as const, message: 'All *failed*\n<b>' } }
    const text = exportMarkdown(
      conversationOf({
        title: '[a](b) # c',
        settings: { system: ' ', parameters: {} },
        messages: [answerOf('stopped'), failed],
      }),
    )
    expect(text).toBe(
      '# \\[a\\](b) \\# c\n\n*1970-01-01*\n\n## Assistant\n\nWell\n\n*Stopped*\n\n' +
        '## Assistant\n\n*Failed: All \\*failed\\* \\<b\\>*\n',
    )
  })
})

test.each([
  ['Monads & you?', 'monads-you.md'],
  ['../../etc/passwd', 'etc-passwd.md'],
  ['\u202e\n', 'conversation.md'],
  ['Größe 日本', 'größe-日本.md'],
  ['x'.repeat(99), `${'x'.repeat(60)}.md`],
])('the file of %j is %j', (title, name) => {
  expect(fileNameOf(title, 'md')).toBe(name)
})

test('the example in docs/conversation-format.md can be imported', async () => {
  const [, example = ''] =
    /^```json\n([^]*?)^```$/m.exec(
      await Bun.file(new URL('../../docs/conversation-format.md', import.meta.url)).text(),
    ) ?? []
  const history = memoryHistory()
  expect(await importJson(new Blob([example]), history)).toEqual({ added: 1, same: 0, faults: [] })
})
