import fc from 'fast-check'
import type { Inline } from './inline.ts'

const parts = [
  'alpha',
  'beta',
  'gamma',
  'delta',
  ' ',
  ' ',
  '\n',
  '\n',
  '\n\n',
  '    ',
  '\t',
  '*',
  '**',
  '_',
  '__',
  '`',
  '``',
  '\n```\n',
  '\n```js\n',
  '\n~~~\n',
  '~~',
  '[',
  ']',
  '](',
  ')',
  '(',
  '![',
  '<',
  '>',
  '> ',
  '# ',
  '## ',
  '- ',
  '1. ',
  '+ ',
  '- [ ] ',
  '- [x] ',
  '|',
  '|-|-|\n',
  '|a|b|\n',
  '---\n',
  '===\n',
  '\\',
  '&lt;',
  '&#60;',
  '&',
  '&amp;lt;',
  'https://example.com/a',
  'http://b.c',
  'www.d.ef',
  'g@h.ij',
  'javascript:alert(1)',
  'data:text/html,x',
  '[k]: http://l.m\n',
  '[k]',
  '[n](http://o.p "q")',
  '![r](data:image/png;base64,AAAA)',
  '<script>',
  '</script>',
  '<img src=x onerror=alert(1)>',
  '<!--',
  '-->',
  '<br>',
  '<sub>',
  '</sub>',
  '<kbd>x</kbd>',
  '\n<details>\n',
  '<summary>s</summary>\n',
  '\n</details>\n',
  '> [!NOTE]\n',
  '[^1]',
  '\n[^1]: ',
  '<div>',
  '"',
  "'",
  ':',
  '=',
  '\u202E',
  '\u2066',
  'שלום',
  '😀',
  '$',
  '$$',
  '\n$$\n',
  '\\(',
  '\\)',
  '\n\\[\n',
  '\\]',
  'x^2',
  '\r\n',
  '\0',
]

/** Formats inline elements for comparison: `a {emphasis b}`. */
export function outlineInlines(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      switch (inline.kind) {
        case 'text':
          return inline.text
        case 'code':
          return `{code ${inline.text}}`
        case 'break':
          return '{break}'
        case 'footnote':
          return `{footnote ${inline.label}}`
        case 'formula':
          return `{${inline.isDisplay ? 'display ' : ''}formula ${inline.source}}`
        case 'emphasis':
        case 'strong':
        case 'deleted':
        case 'sub':
        case 'sup':
        case 'kbd':
          return `{${inline.kind} ${outlineInlines(inline.children)}}`
        case 'link':
          return `{${inline.address} ${outlineInlines(inline.children)}}`
        case 'image':
          return `{image ${inline.source} ${inline.alternative}}`
      }
    })
    .join('')
}

/** Random Markdown with difficult and hostile parts. */
export const markdownText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...parts), { maxLength: 60 })
  .map((chosen) => chosen.join(''))
