import { useId, useRef, useState, type ReactNode } from 'react'
import { IconButton } from '../ui/button.tsx'
import { describedBy, Field, inputLook } from './field.tsx'
import { parameterWords } from './parameter-words.ts'
import type { NumberParameter } from './parameters.ts'
import { readNumber } from './read-number.ts'

/** What {@link NumberField} shows. */
export interface NumberFieldProps {
  readonly parameter: NumberParameter
  /** Absent: not set. */
  readonly value: number | undefined
  readonly onChange: (value: number | undefined) => void
  readonly hint?: string | undefined
}

/**
 * A parameter that is a number: a field, and a slider where there are boundaries. What may not be sent is told, and is
 * not set.
 */
export function NumberField({ parameter, value, onChange, hint }: NumberFieldProps): ReactNode {
  const { name, isInteger, range } = parameter
  const { label, explanation } = parameterWords[name]
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const read = readNumber(parameter, typed)
  // What was typed stays as it was typed, such as 1.0 or 7,5, until the value changes in another way.
  const isTyped = (read.kind === 'value' ? read.value : undefined) === value
  const text = isTyped ? typed : String(value ?? '')
  const shown = isTyped ? read : readNumber(parameter, text)
  const fault = shown.kind === 'fault' ? shown.fault : undefined

  function type(next: string): void {
    setTyped(next)
    const now = readNumber(parameter, next)
    onChange(now.kind === 'value' ? now.value : undefined)
  }

  const clear = (
    <IconButton
      label={`Clear ${label}`}
      icon="close"
      className={text === '' ? 'invisible' : ''}
      onClick={() => {
        type('')
        input.current?.focus()
      }}
    />
  )
  return (
    <Field id={id} label={label} explanation={explanation} fault={fault} hint={hint} action={clear}>
      <div className="flex items-center gap-3">
        {range === undefined ? null : (
          <input
            type="range"
            aria-label={`${label}, slider`}
            aria-valuetext={value === undefined ? 'Not set' : String(value)}
            min={range.min}
            max={range.max}
            step={range.step}
            value={value ?? range.rest}
            onChange={({ target }) => type(target.value)}
            // A press where it stands already changes nothing, and is to set it all the same.
            onClick={({ currentTarget }) => type(currentTarget.value)}
            className={`min-h-6 min-w-0 flex-1 pointer-coarse:min-h-11 ${value === undefined ? 'accent-muted opacity-40' : 'accent-accent'}`}
          />
        )}
        <input
          ref={input}
          id={id}
          inputMode={isInteger ? 'numeric' : 'decimal'}
          autoComplete="off"
          placeholder="Not set"
          value={text}
          onChange={({ target }) => type(target.value)}
          {...describedBy({ id, fault, hint })}
          className={`${inputLook} tabular-nums ${range === undefined ? 'w-full' : 'w-24 text-right'}`}
        />
      </div>
    </Field>
  )
}
