import { useId, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { isSendKey } from '../chat/send-key.ts'
import { boxStyle } from '../parameters/field.tsx'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

export interface VariablesFormProps {
  /** Name of the preset. */
  readonly name: string
  readonly variables: readonly string[]
  readonly onUse: (values: ReadonlyMap<string, string>) => void
  readonly onClose: () => void
}

/** Asks for the values of a preset's variables. Enter uses it, Shift+Enter begins a line. */
export function VariablesForm({ name, variables, onUse, onClose }: VariablesFormProps): ReactNode {
  const id = useId()
  const first = useRef<HTMLTextAreaElement>(null)
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map())

  function submit(event?: FormEvent): void {
    event?.preventDefault()
    onUse(new Map(variables.map((variable) => [variable, values.get(variable) ?? ''])))
  }

  return (
    <Dialog
      title={`/${name}`}
      isOpen
      onClose={onClose}
      first={first}
      footer={
        <>
          <Button onClick={onClose}>{say.common.cancel}</Button>
          <Button type="submit" form={id} variant="primary">
            {say.presets.use}
          </Button>
        </>
      }
    >
      <form id={id} className="flex flex-col gap-3" onSubmit={submit}>
        {variables.map((variable, index) => (
          <div key={variable} className="flex flex-col gap-1">
            <label htmlFor={`${id}-${index}`} className="text-sm font-medium wrap-anywhere">
              {variable}
            </label>
            <textarea
              ref={index === 0 ? first : undefined}
              id={`${id}-${index}`}
              rows={1}
              dir="auto"
              value={values.get(variable) ?? ''}
              onChange={({ target }) => setValues(new Map([...values, [variable, target.value]]))}
              onKeyDown={(event) => {
                if (isSendKey(event.nativeEvent)) submit(event)
              }}
              className={`${boxStyle} field-sizing-content max-h-60 min-h-9 w-full py-1.5 pointer-coarse:min-h-11`}
            />
          </div>
        ))}
      </form>
    </Dialog>
  )
}
