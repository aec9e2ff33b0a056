import { useState, type ReactNode } from 'react'
import type { User } from '../../src/http/page/page-api.ts'
import { displayNameOf } from './display-name.ts'

type Pictured = Pick<User, 'displayName' | 'userName' | 'avatarUrl'>

/** Initials: the first letters of the first and the last word. */
function initialsOf(user: Pictured): string {
  const words = displayNameOf(user).trim().split(/\s+/)
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '')
  return letters.join('').toUpperCase()
}

/** A user's picture, or initials if there is no picture or it does not load. */
export function Avatar({ user, size = 'size-8' }: { readonly user: Pictured; readonly size?: string }): ReactNode {
  const [failedUrl, setFailedUrl] = useState<string>()
  if (!user.avatarUrl.startsWith('https:') || failedUrl === user.avatarUrl) {
    // The initials are CSS content, so they are no part of an accessible name.
    return (
      <span
        aria-hidden="true"
        data-initials={initialsOf(user)}
        className={
          'inline-flex shrink-0 items-center justify-center rounded-full border border-transparent bg-accent-soft ' +
          `text-xs font-semibold text-accent before:content-[attr(data-initials)] ${size}`
        }
      />
    )
  }
  return (
    <img
      src={user.avatarUrl}
      alt=""
      referrerPolicy="no-referrer"
      className={`shrink-0 rounded-full object-cover ${size}`}
      onError={() => setFailedUrl(user.avatarUrl)}
    />
  )
}
