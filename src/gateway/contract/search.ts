/** How jobs are asked for in one line: for those who see nothing of us but the contract. */
export * from '../../core/search.ts'
