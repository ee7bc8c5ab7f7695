export { exampleDrafts } from '../io/example-drafts.ts'
