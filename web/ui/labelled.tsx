import { useId, type ReactNode } from 'react'

/** Classes of a labelled field. */
export interface FieldLook {
  /** The box around label and field. */
  readonly box: string
  readonly label: string
  readonly field: string
}

/** The look of a field with a small label. */
export const smallLook: FieldLook = {
  box: 'flex flex-col gap-1',
  label: 'text-xs text-muted',
  field: 'min-h-9 rounded-lg border border-muted bg-page px-2 text-base pointer-coarse:min-h-11',
}

interface LabelledProps {
  readonly label: string
  readonly look: FieldLook
  /** Gets the attributes of the field. */
  readonly children: (field: { readonly id: string; readonly className: string }) => ReactNode
}

/** A field with its label above. */
export function Labelled({ label, look, children }: LabelledProps): ReactNode {
  const id = useId()
  return (
    <div className={look.box}>
      <label htmlFor={id} className={look.label}>
        {label}
      </label>
      {children({ id, className: look.field })}
    </div>
  )
}

export interface ChoiceProps<Value extends string> extends Omit<LabelledProps, 'children'> {
  readonly value: Value
  readonly options: readonly (readonly [value: Value, text: string])[]
  readonly onChange: (value: Value) => void
}

/** A labelled choice of one value. */
export function Choice<Value extends string>({ value, options, onChange, ...labelled }: ChoiceProps<Value>): ReactNode {
  return (
    <Labelled {...labelled}>
      {(field) => (
        <select
          {...field}
          value={value}
          onChange={({ target }) => {
            const found = options.find(([each]) => each === target.value)
            if (found !== undefined) onChange(found[0])
          }}
        >
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}
