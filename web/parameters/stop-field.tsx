import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { isComposing } from '../ui/is-composing.ts'
import { describedBy, Field, inputStyle } from './field.tsx'
import { parameterTexts } from './parameter-texts.ts'
import type { ListParameter } from './parameters.ts'
import { readStop, showStop } from './stop-text.ts'

export interface StopFieldProps {
  readonly parameter: ListParameter
  /** Absent if not set. */
  readonly value: readonly string[] | undefined
  readonly onChange: (value: readonly string[] | undefined) => void
}

/** A list of texts, added one by one with Enter. */
export function StopField({ parameter: { name }, value = [], onChange }: StopFieldProps): ReactNode {
  const { label, explanation } = parameterTexts[name]
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const text = readStop(typed)
  const fault = value.includes(text) ? say.parameters.inListAlready : undefined

  function add(): void {
    if (text === '' || fault !== undefined) return
    onChange([...value, text])
    setTyped('')
  }

  function remove(removed: string): void {
    const left = value.filter((each) => each !== removed)
    onChange(left.length === 0 ? undefined : left)
    input.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || isComposing(event.nativeEvent)) return
    event.preventDefault()
    add()
  }

  return (
    <Field id={id} label={label} explanation={say.parameters.newLineHint(explanation)} fault={fault}>
      {value.length === 0 ? null : (
        <ul aria-label={label} className="flex flex-wrap gap-1.5">
          {value.map((each) => (
            <Stop key={each} text={showStop(each)} onRemove={() => remove(each)} />
          ))}
        </ul>
      )}
      <div className="flex gap-2">
        <input
          ref={input}
          id={id}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="done"
          placeholder={say.parameters.addOne}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={onKeyDown}
          {...describedBy({ id, fault })}
          className={`${inputStyle} min-w-0 flex-1 font-mono`}
        />
        <Button
          onClick={add}
          disabled={text === '' || fault !== undefined}
          aria-label={say.parameters.addTo(label.toLowerCase())}
        >
          {say.common.add}
        </Button>
      </div>
    </Field>
  )
}

function Stop({ text, onRemove }: { readonly text: string; readonly onRemove: () => void }): ReactNode {
  return (
    <li className="inline-flex max-w-full items-center rounded-lg border border-line bg-panel pl-2.5">
      <code className="min-w-0 py-1 text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</code>
      <button
        type="button"
        aria-label={say.common.remove(text)}
        title={say.common.remove(text)}
        onClick={onRemove}
        className={
          'inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-hover ' +
          'hover:text-ink pointer-coarse:size-11'
        }
      >
        <Icon name="close" className="size-4" />
      </button>
    </li>
  )
}
