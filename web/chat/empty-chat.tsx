import type { ReactNode } from 'react'
import type { ModelsAnswer, User } from '../../src/http/page/page-api.ts'
import { displayNameOf } from '../app/display-name.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { lazily } from '../ui/lazily.tsx'
import { useNow } from '../ui/use-now.ts'

const prompts = say.chat.prompts

// Its height is there before, so that nothing moves.
const GoesTo = lazily(async () => (await import('./goes-to.tsx')).GoesTo, {
  placeholder: <p className="min-h-6" />,
  failed: () => null,
})
const FirstUse = lazily(async () => (await import('./chat-tools.ts')).FirstUse)
const FaultsNotice = lazily(async () => (await import('../providers/provider-notices.tsx')).FaultsNotice)

interface Offered {
  /** Absent until loaded. */
  readonly models: ModelsAnswer | undefined
}

/** Above the message field of a conversation without messages: a greeting, and notices for owners. */
export function EmptyChat({ user, models }: Offered & { readonly user: User | undefined }): ReactNode {
  return (
    <div className="flex flex-col gap-5 pt-[14vh] sm:pt-[24vh]">
      <h2 className="text-center text-xl font-semibold tracking-tight text-balance wrap-anywhere sm:text-[1.75rem]/9">
        {user === undefined ? say.chat.greeting : <Greeting name={displayNameOf(user)} />}
      </h2>
      {models?.notice === undefined ? null : <FaultsNotice notice={models.notice} file={models.file} />}
      {models?.isEchoOnly === true ? <FirstUse file={models.file} /> : null}
    </div>
  )
}

const minuteMs = 60_000

/** By the first name, and the time of day. */
function Greeting({ name }: { readonly name: string }): ReactNode {
  const [first = ''] = name.trim().split(/\s+/)
  const hour = new Date(useNow(minuteMs)).getHours()
  if (hour < 5 || hour >= 18) return say.chat.goodEvening(first)
  return hour < 12 ? say.chat.goodMorning(first) : say.chat.goodAfternoon(first)
}

interface BelowComposerProps extends Offered {
  readonly model: string | undefined
  readonly onPrompt: (text: string) => void
}

/** Below the message field of a conversation without messages: who is asked, and questions to begin with. */
export function BelowComposer({ model, models, onPrompt }: BelowComposerProps): ReactNode {
  // Shown when the models are known, so that nothing moves.
  if (models === undefined || models.models.length === 0) return null
  const asked = models.isEchoOnly ? undefined : models.models.find(({ name }) => name === model)
  return (
    <div className="shrink-0 overflow-y-hidden [scrollbar-gutter:stable]">
      <div className="mx-auto flex max-w-3xl flex-col gap-4 px-4 pt-1 pb-6">
        {asked === undefined ? null : <GoesTo model={asked} />}
        <ul className="flex flex-wrap justify-center gap-2">
          {prompts.map(({ name, text }) => (
            <li key={name}>
              <Button onClick={() => onPrompt(text)}>{name}</Button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}
