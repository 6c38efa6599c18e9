// The tables by which contributions and assignments are found, beside the records themselves.
//
// 1. A line is what can be asked about one contribution, in columns. It is written with its record,
//    in the same transaction, and a contribution without a line is in no list.
// 2. Lists are in the order of creation, newest first: (created_ms, id), descending.
// 3. The lines of all contributions are cut into buckets, each a stretch of created_ms that holds
//    about a thousand. Per scope (everything, one assignment, one person, one owner) a bucket has its
//    counts, so that page 1,000 is found by adding a few numbers and not by walking over its lines.
// 4. A term is one word, tag, country, kind of media or queue that lines can be found by.
import type { Migration } from '../kernel/store.ts'

export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: 'lines',
    async up(tx, engine) {
      const isPostgres = engine === 'postgres'
      const text = isPostgres ? 'text COLLATE "C"' : 'TEXT'
      const integer = isPostgres ? 'bigint' : 'INTEGER'
      const real = isPostgres ? 'double precision' : 'REAL'
      const inOrder = isPostgres ? '' : 'WITHOUT ROWID'
      const counts = ['entries', 'media', 'media_bytes'].flatMap((name) => [
        `${name} ${integer} NOT NULL`,
        `public_${name} ${integer} NOT NULL`,
      ])
      await tx.sql(`CREATE TABLE contribution_line (
        id ${text} PRIMARY KEY,
        created_ms ${integer} NOT NULL,
        bucket ${integer} NOT NULL,
        assignment ${text},
        contributor ${text} NOT NULL,
        owner ${text} NOT NULL,
        state ${text} NOT NULL,
        is_public ${integer} NOT NULL,
        is_anonymous ${integer} NOT NULL,
        country ${text},
        geohash ${text},
        geohash_chars ${integer},
        x ${real}, y ${real}, z ${real},
        url_words ${text} NOT NULL,
        images ${integer} NOT NULL,
        videos ${integer} NOT NULL,
        media_bytes ${integer} NOT NULL)`)
      for (const [name, columns] of [
        ['all', 'created_ms, id'],
        ['public', 'is_public, created_ms, id'],
        ['assignment', 'assignment, created_ms, id'],
        ['contributor', 'contributor, created_ms, id'],
        ['owner', 'owner, created_ms, id'],
        ['url_words', 'url_words, id'],
      ]) {
        await tx.sql(`CREATE INDEX contribution_by_${name} ON contribution_line (${columns})`)
      }
      await tx.sql(`CREATE INDEX contribution_by_place ON contribution_line
        (geohash, geohash_chars, x, y, z, id) WHERE geohash IS NOT NULL`)
      await tx.sql(`CREATE TABLE contribution_bucket (
        bucket ${integer} PRIMARY KEY, start_ms ${integer} NOT NULL)`)
      await tx.sql('CREATE INDEX contribution_bucket_by_start ON contribution_bucket (start_ms)')
      await tx.sql(`CREATE TABLE contribution_count (scope ${text} NOT NULL,
        bucket ${integer} NOT NULL, ${counts.join(', ')}, PRIMARY KEY (scope, bucket)) ${inOrder}`)
      await tx.sql(`CREATE TABLE contribution_total (scope ${text} PRIMARY KEY,
        ${counts.join(', ')}) ${inOrder}`)
      await tx.sql(`CREATE TABLE term (term ${text} NOT NULL, created_ms ${integer} NOT NULL,
        id ${text} NOT NULL, PRIMARY KEY (term, created_ms, id)) ${inOrder}`)
      await tx.sql(`CREATE TABLE assignment_line (
        id ${text} PRIMARY KEY,
        created_ms ${integer} NOT NULL,
        owner ${text} NOT NULL,
        name ${text} NOT NULL,
        url_words ${text} NOT NULL,
        ends_ms ${integer})`)
      for (const [name, columns] of [
        ['all', 'created_ms, id'],
        ['owner', 'owner, created_ms, id'],
        ['name', 'name, created_ms, id'],
        ['url_words', 'url_words, created_ms, id'],
      ]) {
        await tx.sql(`CREATE INDEX assignment_by_${name} ON assignment_line (${columns})`)
      }
      await tx.sql(`CREATE TABLE person (id ${text} PRIMARY KEY, username ${text} NOT NULL)`)
      await tx.sql('CREATE INDEX person_by_username ON person (username)')
      await tx.sql(`CREATE TABLE person_link (type ${text} NOT NULL, person ${text} NOT NULL,
        PRIMARY KEY (type, person)) ${inOrder}`)
    },
  },
]
