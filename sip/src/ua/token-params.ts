import { skipClass, TOKEN } from '../message/characters.ts'
import type { Params } from '../message/message.ts'
import { parseParams } from '../message/params.ts'

/** A header value of the form `token;name=value;…`, as Event, Subscription-State and Session-Expires have it. */
interface TokenParams {
  readonly token: string
  readonly params: Params
}

export function parseTokenParams(value: string): TokenParams | undefined {
  const end = skipClass(TOKEN, value, 0)
  const params = parseParams(value, end)
  return end === 0 || params === undefined ? undefined : { token: value.slice(0, end), params }
}
