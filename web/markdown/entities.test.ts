import { describe, expect, test } from 'bun:test'
import { decodeEntities } from './entities.ts'

describe('references of characters', () => {
  test.each([
    ['&amp; &lt; &gt; &quot; &apos;', '& < > " \''],
    ['&amp;amp; &amp;lt; &amp;#65;', '&amp; &lt; &#65;'],
    [
      '&nbsp;&yuml;&Alpha;&Omega;&alpha;&omega;&sigma;&sigmaf;&Sigma;&hellip;&mdash;&rarr;&euro;',
      '\u00A0ÿΑΩασωΣ…—→€'.replace('ασ', 'α').replace('ω', 'ωσς'),
    ],
    ['&#65;&#x41;&#X41;&#128512;&#x1F600;', 'AAA😀😀'],
    ['&#0;&#xD800;&#xFFFFFF;&#1114112;', '\uFFFD\uFFFD\uFFFD\uFFFD'],
    ['&unknown; &amp &; &#; &#x; &#12345678; & AT&T', '&unknown; &amp &; &#; &#x; &#12345678; & AT&T'],
    ['&constructor; &-;', '&constructor; &-;'],
  ])('%p are %p', (text, expected) => {
    expect(decodeEntities(text)).toBe(expected)
  })
})
