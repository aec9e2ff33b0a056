import { htmlTag } from './html-tag.ts'

/** The end of a block of raw HTML: a line that contains this text, or a blank line. */
export type HtmlEnd = '</script>' | '-->' | '?>' | '>' | ']]>' | 'blank line'

const blockNames =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl' +
  '|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link' +
  '|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th' +
  '|thead|title|tr|track|ul'
const blockTag = new RegExp(`^</?(?:${blockNames})(?:\\s|/?>|$)`, 'i')
const anyTag = new RegExp(`^${htmlTag}\\s*$`, 'i')
const verbatimEnd = /<\/(?:script|pre|style|textarea)>/i

/**
 * Returns the end condition if the line starts a block of raw HTML (CommonMark 0.31, section 4.6). Examines the first
 * 1,000 characters of a line.
 */
export function readHtmlStart(line: string, isInParagraph: boolean): HtmlEnd | undefined {
  if (line[0] !== '<') return undefined
  const head = line.slice(0, 1_000)
  if (/^<(?:script|pre|style|textarea)(?:\s|>|$)/i.test(head)) return '</script>'
  if (head.startsWith('<!--')) return '-->'
  if (head.startsWith('<?')) return '?>'
  if (head.startsWith('<![CDATA[')) return ']]>'
  if (/^<![a-z]/i.test(head)) return '>'
  if (blockTag.test(head)) return 'blank line'
  return !isInParagraph && anyTag.test(head) ? 'blank line' : undefined
}

/** Whether the block ends with this line. */
export function endsHtml(line: string, end: HtmlEnd): boolean {
  switch (end) {
    case 'blank line':
      return false
    case '</script>':
      return verbatimEnd.test(line)
    case '-->':
    case '?>':
    case '>':
    case ']]>':
      return line.includes(end)
  }
}
