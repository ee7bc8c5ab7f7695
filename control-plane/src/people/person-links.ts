/** The path of the page that trades the token of a link for a session. */
export const LINK_PATH = '/auth/link'

/** The URL of a link. Its token is in the fragment, which browsers send to no server. */
export function linkUrl(baseUrl: string, token: string): string {
  return `${baseUrl}${LINK_PATH}#token=${token}`
}
