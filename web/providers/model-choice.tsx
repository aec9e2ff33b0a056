import { useState, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'

export interface ModelChoiceProps {
  /** Of the first choice. */
  readonly id: string
  readonly offered: readonly string[]
  /** Undefined: all. */
  readonly chosen: readonly string[] | undefined
  readonly fault: string | undefined
  readonly onChange: (chosen: readonly string[] | undefined) => void
}

const listedMax = 200

/** All models of a provider, or some of them. */
export function ModelChoice({ id, offered, chosen, fault, onChange }: ModelChoiceProps): ReactNode {
  const [wanted, setWanted] = useState('')
  const found = offered.filter((model) => model.toLowerCase().includes(wanted.trim().toLowerCase()))
  const row = 'flex min-h-7 items-center gap-2 text-sm pointer-coarse:min-h-11'
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="text-sm font-medium">{say.common.models}</legend>
      <label className={row}>
        <input id={id} type="radio" checked={chosen === undefined} onChange={() => onChange(undefined)} />
        {say.providers.allThatItLists}
      </label>
      <label className={row}>
        <input type="radio" checked={chosen !== undefined} onChange={() => onChange([])} />
        {chosen === undefined ? say.providers.onlySome : say.providers.onlySomeCount(formatCount(chosen.length))}
      </label>
      {chosen === undefined ? null : (
        <div className="flex min-w-0 flex-col gap-2 pl-6">
          <input
            type="search"
            aria-label={say.providers.filterModels}
            placeholder={say.providers.filter}
            value={wanted}
            className="min-h-9 w-full rounded-lg border border-muted bg-page px-2 text-base pointer-coarse:min-h-11"
            onChange={({ target }) => setWanted(target.value)}
          />
          <ul className="flex max-h-48 flex-col overflow-y-auto rounded-lg border border-line p-2">
            {found.slice(0, listedMax).map((model) => (
              <li key={model}>
                <label className={`${row} [overflow-wrap:anywhere]`}>
                  <input
                    type="checkbox"
                    checked={chosen.includes(model)}
                    onChange={({ target }) =>
                      onChange(target.checked ? [...chosen, model] : chosen.filter((each) => each !== model))
                    }
                  />
                  {model}
                </label>
              </li>
            ))}
          </ul>
          {found.length > listedMax ? (
            <p className="text-sm text-muted">{say.providers.more(formatCount(found.length - listedMax))}</p>
          ) : null}
        </div>
      )}
      <p role="alert" className="text-sm text-bad empty:hidden">
        {fault}
      </p>
    </fieldset>
  )
}
