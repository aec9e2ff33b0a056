import { useId, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { describedBy, Field, inputStyle } from './field.tsx'
import { parameterTexts } from './parameter-texts.ts'
import type { ChoiceParameter, FlagParameter, ParameterName } from './parameters.ts'

export interface ChoiceFieldProps {
  readonly parameter: ChoiceParameter
  /** Absent if not set. */
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

/** A field for a parameter with a fixed set of values. */
export function ChoiceField({ parameter: { name, common, rare }, value, onChange }: ChoiceFieldProps): ReactNode {
  return (
    <Select name={name} value={value ?? ''} onChange={(next) => onChange(next === '' ? undefined : next)}>
      {common.map((word) => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
      <optgroup label={say.parameters.notEveryProvider}>
        {rare.map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </optgroup>
    </Select>
  )
}

export interface FlagFieldProps {
  readonly parameter: FlagParameter
  /** Absent if not set. */
  readonly value: boolean | undefined
  readonly onChange: (value: boolean | undefined) => void
}

/** A field for a parameter that is on, off, or not set. */
export function FlagField({ parameter: { name }, value, onChange }: FlagFieldProps): ReactNode {
  return (
    <Select
      name={name}
      value={value === undefined ? '' : String(value)}
      onChange={(next) => onChange(next === '' ? undefined : next === 'true')}
    >
      <option value="true">{say.parameters.on}</option>
      <option value="false">{say.parameters.off}</option>
    </Select>
  )
}

interface SelectProps {
  readonly name: ParameterName
  readonly value: string
  readonly onChange: (value: string) => void
  readonly children: ReactNode
}

function Select({ name, value, onChange, children }: SelectProps): ReactNode {
  const id = useId()
  return (
    <Field id={id} {...parameterTexts[name]}>
      <select
        id={id}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        {...describedBy({ id })}
        className={`${inputStyle} w-full`}
      >
        <option value="">{say.parameters.notSet}</option>
        {children}
      </select>
    </Field>
  )
}
