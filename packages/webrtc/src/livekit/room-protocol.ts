/** Topic of the data messages between the page of a call and the agent. */
export const DATA_TOPIC = 'parley'

/** Identities of the two participants of a call's room. */
export const VISITOR = 'visitor'
export const AGENT = 'agent'

/** Messages to the process that has the rooms; `id` names a connection. */
export type RoomCommand =
  | {
      readonly type: 'connect'
      readonly id: string
      /** WebSocket address of the LiveKit server. */
      readonly url: string
      /** Join token of the agent. */
      readonly token: string
      /** Where L16 of the visitor is sent: the media session of the call. */
      readonly media: { readonly address: string; readonly port: number }
    }
  | { readonly type: 'send'; readonly id: string; readonly text: string }
  | { readonly type: 'close'; readonly id: string }
