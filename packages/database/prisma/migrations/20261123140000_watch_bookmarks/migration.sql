-- CreateTable
CREATE TABLE "service"."watch_bookmarks" (
    "chain" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "bookmark" TEXT NOT NULL,

    CONSTRAINT "watch_bookmarks_pkey" PRIMARY KEY ("chain","recipient")
);
