/** A chat request, read from any vendor's format. */
export interface FakeChatRequest {
  /** Oldest first. */
  readonly messages: readonly FakeMessage[]
  readonly tools: readonly FakeToolDeclaration[]
  /** `name`: this tool and no other. */
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string }
}

export type FakeMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly FakeToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string }

export interface FakeToolCall {
  readonly id: string
  readonly name: string
  /** JSON. */
  readonly argumentsText: string
}

interface FakeToolDeclaration {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
}
