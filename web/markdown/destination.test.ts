import { describe, expect, test } from 'bun:test'
import { classifyDestination } from './destination.ts'

describe('a destination', () => {
  test.each([
    ['https://a.example/b?c=d#e', 'https://a.example/b?c=d#e'],
    ['HTTP://A.EXAMPLE', 'http://a.example/'],
    ['mailto:a@b.example?subject=c', 'mailto:a@b.example?subject=c'],
    ['https://аpple.example', 'https://xn--pple-43d.example/'],
    ['https://a.example/ü', 'https://a.example/%C3%BC'],
    ['https://user:secret@a.example/', 'https://user:secret@a.example/'],
  ])('%p is a link', (text, address) => {
    expect(classifyDestination(text)).toMatchObject({ kind: 'link', address })
  })

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'javascript\u0000:alert(1)',
    'javascript&colon;alert(1)',
    '\u00A0javascript:alert(1)',
    '\uFEFFhttps://a.example',
    'vbscript:msgbox(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:text/html;base64,AAAA',
    'data:image/svg+xml;base64,AAAA',
    'data:image/svg+xml,<svg onload=alert(1)>',
    'data:image/png,AAAA',
    'data:image/png;base64,AA"AA',
    'blob:https://a.example/b',
    'file:///etc/passwd',
    'ftp://a.example',
    'about:blank',
    'chrome://settings',
    'intent://a',
    'tel:123',
    '//a.example',
    '/a',
    'a',
    '#a',
    '?a',
    '',
    'https:',
    'https://',
    'https:\\\\a.example',
    'https:a.example',
    'https://a b.example',
    'https://a.example/b c',
    'https://a.exa\nmple',
    'http://[',
    'view-source:https://a.example',
  ])('%p is none', (text) => {
    expect(classifyDestination(text).kind).toBe('none')
  })

  test.each(['png', 'jpeg', 'gif', 'webp', 'avif'])('an image of type %s is one', (type) => {
    expect(classifyDestination(`data:image/${type};base64,AA+/AA==`)).toEqual({
      kind: 'image',
      source: `data:image/${type};base64,AA+/AA==`,
    })
  })
})
