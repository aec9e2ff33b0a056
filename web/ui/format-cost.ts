import { language } from '../texts/locale.ts'

/** USD: `$0.0012`, `$1.50`, `−$0.30`; `<$0.00001` below a hundred-thousandth. */
export function formatCost(usd: number): string {
  if (usd === 0) return dollars(0).format(0)
  if (usd < 0) return `−${formatCost(-usd)}`
  if (usd < 0.00001) return `<${dollars(5).format(0.00001)}`
  return dollars(usd >= 0.1 ? 2 : Math.min(5, 1 - Math.floor(Math.log10(usd)))).format(usd)
}

const dollarFormats = new Map<number, Intl.NumberFormat>()

function dollars(digits: number): Intl.NumberFormat {
  const known = dollarFormats.get(digits)
  if (known !== undefined) return known
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const made = new Intl.NumberFormat(language, { style: 'currency', currency: 'USD', useGrouping: false, ...fraction })
  dollarFormats.set(digits, made)
  return made
}

/** Marks an estimate: `≈12`. */
export function markEstimate(text: string, isEstimated: boolean | undefined): string {
  return isEstimated === true ? `≈${text}` : text
}
