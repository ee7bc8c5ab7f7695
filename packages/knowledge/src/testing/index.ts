export { GenerationVectors } from '../io/generation-vectors.ts'
