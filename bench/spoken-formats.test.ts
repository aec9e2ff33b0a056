import { describe, expect, test } from 'bun:test'
import { readSpokenShape, spokenAt, spokenFormats, spokenNames, spokenRequest } from './spoken-formats.ts'
import { contentOf, stampLength } from './upstream-protocol.ts'

describe.each(spokenNames.map((name) => [name] as const))('requests and answers of %s', (name) => {
  const { path, begin, content, end } = spokenFormats[name]

  test('its path names it, and its request the shape of the stream', () => {
    expect([spokenAt(path(false)), spokenAt(path(true))]).toEqual([name, name])
    expect(readSpokenShape(spokenRequest(name, { chunks: 100, paceUs: 20_000 }))).toEqual({
      chunks: 100,
      paceUs: 20_000,
    })
    expect(readSpokenShape(spokenRequest(name))).toBeUndefined()
  })

  test('only the events of content count as such, with their times', () => {
    const stamp = '1'.repeat(stampLength)
    const events = (text: string) => text.split('\n\n').filter((event) => event !== '')
    expect(events(content(` t${stamp}`, 0)).map(contentOf)).toEqual([Number(stamp)])
    for (const event of [...events(begin), ...events(end(` t${stamp}`, 1))]) expect(contentOf(event)).toBeUndefined()
  })
})
