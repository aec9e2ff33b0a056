import { useEffect, useState, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { announce } from './announce.ts'
import { IconButton } from './button.tsx'

const shownMs = 1_500

/** Copies a text and reports the outcome. @param label names the text, as in `Copy code` */
export function CopyButton({
  text,
  label,
}: {
  readonly text: string | (() => string)
  readonly label: string
}): ReactNode {
  const [outcome, setOutcome] = useState<'none' | 'copied' | 'failed'>('none')
  useEffect(() => {
    if (outcome === 'none') return undefined
    const timer = setTimeout(() => setOutcome('none'), shownMs)
    return () => clearTimeout(timer)
  }, [outcome])

  async function copy(): Promise<void> {
    const isCopied = await copyText(typeof text === 'string' ? text : text())
    setOutcome(isCopied ? 'copied' : 'failed')
    announce(isCopied ? say.common.copied : say.common.copyingImpossible)
  }

  return (
    <IconButton
      label={outcome === 'failed' ? say.common.copyingImpossible : label}
      icon={outcome === 'copied' ? 'check' : outcome === 'failed' ? 'warn' : 'copy'}
      onClick={() => void copy()}
    />
  )
}

/**
 * Copies a text, and returns whether it worked. Over plain http from another machine there is no clipboard API, so it
 * falls back to `execCommand`.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('aria-hidden', 'true')
  area.className = 'fixed top-0 left-0 size-px opacity-0'
  const before = document.activeElement
  // While a dialog is open, only elements inside it can be selected.
  const container = before?.closest('dialog') ?? document.body
  container.append(area)
  area.select()
  try {
    return document.activeElement === area && document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
    if (before instanceof HTMLElement) before.focus()
  }
}
