export { type ExampleName, exampleDraft, exampleSuite } from './io/example-drafts.ts'
export { ExampleServer, type ExampleServerOptions } from './io/example-server.ts'
export { withOrigin } from './placeholder-origin.ts'
export type { ReceivedEvent } from './webhooks/webhook-inbox.ts'
