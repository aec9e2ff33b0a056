import { memo, useDeferredValue, useEffect, useMemo, useState, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { showBidiControls } from './bidi.ts'
import type { showFormula } from './show-formula.ts'

type ShowFormula = typeof showFormula

let loaded: ShowFormula | undefined

/**
 * Renders a formula as MathML, by a library that the first formula loads. Until then, and if it has an error, its
 * source is shown.
 *
 * @param source undefined: more text may follow
 * @param written the source with its marks
 */
export const FormulaView = memo(function FormulaView({
  source,
  written,
  isDisplay,
}: {
  readonly source: string | undefined
  readonly written: string
  readonly isDisplay: boolean
}): ReactNode {
  const [known, setKnown] = useState(() => loaded),
    // Deferred, so the browser stays responsive while many formulas are shown at once.
    show = useDeferredValue(known)
  useEffect(() => {
    if (known === undefined) void load().then((found) => setKnown(() => found))
  }, [known])
  const formula = useMemo(
    () => (source === undefined ? undefined : show?.(source, isDisplay)),
    [show, source, isDisplay],
  )
  if (formula === undefined)
    return (
      <code dir="ltr" className="font-mono text-sm whitespace-pre-wrap">
        {showBidiControls(written)}
      </code>
    )
  return isDisplay ? (
    <span
      role="group"
      tabIndex={0}
      aria-label={say.markdown.formula}
      className="block overflow-x-auto overflow-y-clip py-1"
    >
      {formula}
    </span>
  ) : (
    formula
  )
})

async function load(): Promise<ShowFormula | undefined> {
  try {
    loaded ??= (await import('./show-formula.ts')).showFormula
  } catch {
    // Loading fails without a network. Formulas are then shown as their sources.
  }
  return loaded
}
