/** A PDF of pages with these texts, as small programs write it. @param more entries of its trailer */
export function pdfOf(pages: readonly string[], more = ''): Uint8Array<ArrayBuffer> {
  const font = 3
  const firstPage = 4
  const kids = pages.map((_, index) => `${firstPage + 2 * index} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, index) => {
      const lines = text.split('\n').map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`)
      const content = text === '' ? '' : `BT /F1 12 Tf 14 TL 72 720 Td ${lines.join(' ')} ET`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 ${font} 0 R >> >> ` +
          `/Contents ${firstPage + 2 * index + 1} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ]
    }),
  ]
  let text = '%PDF-1.7\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const start = text.length
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${more}>>\nstartxref\n${start}\n%%EOF\n`
  return Uint8Array.from(text, (sign) => sign.charCodeAt(0))
}

/** Entries of a trailer that say that a password is needed (PDF 32000-1 section 7.6.3). */
export const encrypted =
  `/ID [<${'0'.repeat(32)}> <${'0'.repeat(32)}>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 ` +
  `/O <${'0'.repeat(64)}> /U <${'1'.repeat(64)}> >> `
