import { ParleyApiError, ParleyClient, ParleyConnectionError } from '@parley/client'
import { createContext, useContext } from 'react'
import { type Environment, fetchFor, keyOf, type SignedIn } from '../session/session.ts'

/** A client of the API that served this page. Throws `TypeError` if the key cannot be one. */
export function apiFor(how: SignedIn): ParleyClient {
  return new ParleyClient({ baseUrl: window.location.origin, key: keyOf(how), fetch: fetchFor(how), retries: 1 })
}

interface Session {
  readonly api: ParleyClient
  readonly how: SignedIn
  signOut(): void
  /** Of a person's session: reads everything again in another environment. */
  chooseEnvironment(environment: Environment): void
}

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession needs a signed-in session above it')
  return session
}

export function useApi(): ParleyClient {
  return useSession().api
}

/** What a failed request says to the user: the message of the API and, where it names parts of the request, those. */
export function faultText(error: unknown): string {
  if (error instanceof ParleyApiError) {
    const issues = error.issues.map(({ path, message }) => `${path} ${message}`.trim())
    return [error.message, ...issues].join(' · ')
  }
  if (error instanceof ParleyConnectionError || error instanceof Error) return error.message
  return String(error)
}

/** A refused request is not repeated; one that was lost is, by the client itself. */
export const isUnauthenticated = (error: unknown) => error instanceof ParleyApiError && error.code === 'unauthenticated'
