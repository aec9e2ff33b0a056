import { useEffect, useState } from 'react'
import { colourPart, type ColouredPart } from './colour-code.ts'
import type { Highlighter } from './highlighter.ts'
import { languages } from './languages.ts'

const quietMs = 120
const charactersMax = 100_000

interface Coloured {
  readonly text: string
  readonly parts: readonly ColouredPart[]
}

const nothing: readonly ColouredPart[] = []

/**
 * Returns the coloured parts of a code block so far. Colouring starts when the code is complete and stable for a
 * moment, and yields to the browser after each part.
 */
export function useColours(chunks: readonly string[], language: string, isOpen: boolean): readonly ColouredPart[] {
  const text = isOpen ? '' : chunks.join('')
  const isWanted = text !== '' && text.length <= charactersMax && languages.has(language)
  const [coloured, setColoured] = useState<Coloured>()
  useEffect(() => {
    if (!isWanted) return undefined
    const controller = new AbortController()
    const timer = setTimeout(
      () => void colourAll(chunks, language, controller.signal, (parts) => setColoured({ text, parts })),
      quietMs,
    )
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
    // The effect depends on `text`, not on the identity of `chunks`: equal text continues the running work.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [text, language, isWanted])
  return isWanted && coloured?.text === text ? coloured.parts : nothing
}

async function colourAll(
  chunks: readonly string[],
  language: string,
  signal: AbortSignal,
  show: (parts: readonly ColouredPart[]) => void,
): Promise<void> {
  const highlight = await loadHighlighter(language)
  let parts: readonly ColouredPart[] = []
  for (
    let start = 0;
    start < chunks.length && highlight !== undefined && !signal.aborted;
    start = parts.at(-1)?.end ?? chunks.length
  ) {
    parts = [...parts, colourPart(highlight, chunks, start)]
    show(parts)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
}

async function loadHighlighter(language: string): Promise<Highlighter | undefined> {
  try {
    return await (await import('./highlighter.ts')).highlighterFor(language)
  } catch {
    // Loading fails without a network. The code then has no colours.
    return undefined
  }
}
