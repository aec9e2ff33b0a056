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
 * The parts of a block of code that are coloured so far. It begins when the code is complete and has not changed for a
 * moment, and goes on part by part, so that nobody waits for it.
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
    // The chunks are those of the text: whenever they are other objects with the same text, what was begun goes on.
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
    // Without it, as when the network is away, code has no colours; nothing else is missing.
    return undefined
  }
}
