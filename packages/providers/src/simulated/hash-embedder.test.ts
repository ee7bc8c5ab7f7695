import { localEmbedderConformance } from '../embedding/testing/conformance.ts'
import { HashEmbedder } from './hash-embedder.ts'

localEmbedderConformance('simulated/hash-1', () => new HashEmbedder())
