import { useId, useRef, useState, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'
import { describedBy, Field, inputStyle } from './field.tsx'
import { parameterTexts } from './parameter-texts.ts'
import type { NumberParameter } from './parameters.ts'
import { readNumber } from './read-number.ts'

export interface NumberFieldProps {
  readonly parameter: NumberParameter
  /** Absent if not set. */
  readonly value: number | undefined
  readonly onChange: (value: number | undefined) => void
  readonly hint?: string | undefined
}

/** A field for a number, with a slider if the range is bounded. An invalid value is explained and not set. */
export function NumberField({ parameter, value, onChange, hint }: NumberFieldProps): ReactNode {
  const { name, isInteger, range } = parameter
  const { label, explanation } = parameterTexts[name]
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const read = readNumber(parameter, typed)
  // Keeps the typed text, such as 1.0 or 7,5, until the value changes in another way.
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
      label={say.parameters.clear(label)}
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
            aria-label={say.parameters.slider(label)}
            aria-valuetext={value === undefined ? say.parameters.notSet : String(value)}
            min={range.min}
            max={range.max}
            step={range.step}
            value={value ?? range.rest}
            onChange={({ target }) => type(target.value)}
            // A press at the current position fires no change event, but must set the value.
            onClick={({ currentTarget }) => type(currentTarget.value)}
            className={
              'min-h-6 min-w-0 flex-1 pointer-coarse:min-h-11 ' +
              (value === undefined ? 'without-thumb' : 'accent-accent')
            }
          />
        )}
        <input
          ref={input}
          id={id}
          inputMode={isInteger ? 'numeric' : 'decimal'}
          autoComplete="off"
          placeholder={say.parameters.notSet}
          value={text}
          onChange={({ target }) => type(target.value)}
          {...describedBy({ id, fault, hint })}
          className={`${inputStyle} tabular-nums ${range === undefined ? 'w-full' : 'w-32 text-right'}`}
        />
      </div>
    </Field>
  )
}
