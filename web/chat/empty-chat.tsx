import type { ReactNode } from 'react'
import type { ModelsAnswer } from '../../src/http/page/page-api.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { lazily } from '../ui/lazily.tsx'

const prompts = say.chat.prompts

const FirstUse = lazily(async () => (await import('./chat-tools.ts')).FirstUse)
const FaultsNotice = lazily(async () => (await import('../providers/provider-notices.tsx')).FaultsNotice)

export interface EmptyChatProps {
  /** The user's name; empty without sign-in. */
  readonly name: string
  readonly onPrompt: (text: string) => void
  /** Absent until loaded. */
  readonly models: ModelsAnswer | undefined
}

/** A conversation without messages. */
export function EmptyChat({ name, onPrompt, models }: EmptyChatProps): ReactNode {
  // Shown when the part above is known, so that nothing moves.
  const examplePrompts = <ExamplePrompts onPrompt={onPrompt} />
  return (
    <div className="flex flex-col gap-6 pt-[8vh]">
      <h2 className="text-center text-xl font-semibold text-balance wrap-anywhere">
        {name === '' ? say.chat.greeting : say.chat.greetingTo(name)}
      </h2>
      {models?.notice === undefined ? null : <FaultsNotice notice={models.notice} file={models.file} />}
      {models === undefined || models.models.length === 0 ? null : models.isEchoOnly ? (
        <FirstUse file={models.file}>{examplePrompts}</FirstUse>
      ) : (
        examplePrompts
      )}
    </div>
  )
}

function ExamplePrompts({ onPrompt }: Pick<EmptyChatProps, 'onPrompt'>): ReactNode {
  return (
    <>
      <ul className="grid gap-2 sm:grid-cols-3">
        {prompts.map((prompt) => (
          <li key={prompt} className="flex">
            <button
              type="button"
              onClick={() => onPrompt(prompt)}
              className="w-full rounded-xl border border-line bg-raised p-3 text-left text-sm hover:bg-hover"
            >
              {prompt}
            </button>
          </li>
        ))}
      </ul>
      <p className="text-center text-sm text-muted pointer-coarse:hidden">
        {rich(say.chat.keysHint, {
          enter: <Key>{say.chat.enter}</Key>,
          shift: <Key>{say.chat.shift}</Key>,
          question: <Key>?</Key>,
        })}
      </p>
    </>
  )
}

function Key({ children }: { readonly children: string }): ReactNode {
  return <kbd className="rounded-md border border-line bg-panel px-1 font-mono text-xs">{children}</kbd>
}
