BEGIN TRANSACTION;
CREATE TABLE outlive_migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL);
INSERT INTO "outlive_migrations" VALUES('0001_tasks','2026-11-15T11:21:20.432706+00:00');
CREATE TABLE outlive_task_changes (
                seq INTEGER PRIMARY KEY AUTOINCREMENT,
                id TEXT NOT NULL UNIQUE,
                at TEXT NOT NULL,
                actor TEXT NOT NULL,
                origin TEXT NOT NULL,
                op TEXT NOT NULL,
                task INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                changed TEXT NOT NULL,
                note TEXT
            );
INSERT INTO "outlive_task_changes" VALUES(1,'18e8340ca669e6dfe4e5fc2d4a','2026-01-02T03:04:05.678901+00:00','lead','host:1','create',1,1,'{"subject":[null,"Set up"]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(2,'18e8340ca6a5b6a1211945c102','2026-01-02T03:04:06.678901+00:00','lead','host:1','create',2,1,'{"subject":[null,"Grüße, 世界 🌍"]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(3,'18e8340ca6d3cc251d25676423','2026-01-02T03:04:07.678901+00:00','lead','host:1','create',3,1,'{"subject":[null,"Last"]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(4,'18e8340ca71d7cb7bdbcbe615c','2026-01-02T03:04:08.678901+00:00','lead','host:1','create',4,1,'{"subject":[null,"Deleted"]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(5,'18e8340ca75c45c28854622772','2026-01-02T03:04:08.678901+00:00','lead','host:1','delete',4,2,'{"task":[{"id":4,"subject":"Deleted","description":"","status":"pending","blockedBy":[],"blocks":[],"owner":null,"dependsOn":[],"priority":2,"labels":[],"createdAt":"2026-01-02T03:04:08.678901Z","updatedAt":"2026-01-02T03:04:08.678901Z","completedAt":null,"lease":null,"revision":1,"result":null,"metadata":{},"version":1},null]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(6,'18e8340ca812e425676172f649','2026-01-02T03:04:08.678901+00:00','lead','host:1','create',5,1,'{"subject":[null,"Cancelled"]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(7,'18e8340ca8503c1feadf9cd63b','2026-01-02T03:04:08.678901+00:00','lead','host:1','cancel',5,2,'{"status":["pending","cancelled"],"completedAt":[null,"2026-01-02T03:04:08.678901Z"],"result":[null,"not needed"]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(8,'18e8340ca88dff4b1139090ce0','2026-01-03T03:04:08.678901+00:00','lead','host:1','archive',5,3,'{"archivedAt":[null,"2026-01-03T03:04:08.678901Z"]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(9,'18e8340ca8ca1f216b140a34ef','2026-01-03T03:04:08.678901+00:00','lead','host:1','complete',1,2,'{"status":["pending","completed"],"completedAt":[null,"2026-01-03T03:04:08.678901Z"],"result":[null,"done"]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(10,'18e8340ca9062923973fca82aa','2026-01-03T03:05:08.678901+00:00','lead','host:1','claim',2,2,'{"status":["pending","in_progress"],"lease":[null,{"owner":"ann","token":2,"claimedAt":"2026-01-03T03:05:08.678901Z","expiresAt":"2026-01-03T03:20:08.678901Z"}]}',NULL);
INSERT INTO "outlive_task_changes" VALUES(11,'fixed','2026-01-03T03:05:08.678901+00:00','lead','host:1','update',3,2,'{}',NULL);
CREATE TABLE outlive_task_edges (
                task INTEGER NOT NULL,
                depends_on INTEGER NOT NULL,
                PRIMARY KEY (task, depends_on)
            );
INSERT INTO "outlive_task_edges" VALUES(2,1);
INSERT INTO "outlive_task_edges" VALUES(3,1);
INSERT INTO "outlive_task_edges" VALUES(3,2);
CREATE TABLE outlive_task_ids (last INTEGER NOT NULL);
INSERT INTO "outlive_task_ids" VALUES(5);
CREATE TABLE outlive_task_labels (
                label TEXT NOT NULL,
                task INTEGER NOT NULL,
                PRIMARY KEY (label, task)
            );
INSERT INTO "outlive_task_labels" VALUES('naïve',2);
INSERT INTO "outlive_task_labels" VALUES('日本',2);
CREATE TABLE outlive_tasks (
                id INTEGER PRIMARY KEY,
                subject TEXT NOT NULL,
                description TEXT NOT NULL,
                status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed', 'cancelled')),
                owner TEXT,
                priority INTEGER NOT NULL,
                labels TEXT NOT NULL,
                created_at TEXT NOT NULL,
                updated_at TEXT NOT NULL,
                completed_at TEXT,
                archived_at TEXT,
                lease_owner TEXT,
                lease_token INTEGER,
                lease_claimed_at TEXT,
                lease_expires_at TEXT,
                revision INTEGER NOT NULL,
                result TEXT,
                metadata TEXT NOT NULL,
                extra TEXT NOT NULL,
                blockers INTEGER NOT NULL DEFAULT 0
            );
INSERT INTO "outlive_tasks" VALUES(1,'Set up','','completed',NULL,2,'[]','2026-01-02T03:04:05.678901+00:00','2026-01-03T03:04:08.678901+00:00','2026-01-03T03:04:08.678901+00:00',NULL,NULL,NULL,NULL,NULL,2,'done','{}','{}',0);
INSERT INTO "outlive_tasks" VALUES(2,'Grüße, 世界 🌍','two
lines','in_progress','ann',0,'["naïve","日本"]','2026-01-02T03:04:06.678901+00:00','2026-01-03T03:05:08.678901+00:00',NULL,NULL,'ann',2,'2026-01-03T03:05:08.678901+00:00','2026-01-03T03:20:08.678901+00:00',2,NULL,'{"ключ":[1,2.5,null,true]}','{}',0);
INSERT INTO "outlive_tasks" VALUES(3,'Last','','pending',NULL,2,'[]','2026-01-02T03:04:07.678901+00:00','2026-01-02T03:04:07.678901+00:00',NULL,NULL,NULL,NULL,NULL,NULL,2,NULL,'{}','{"x-other-tool":{"keep":["me",1]}}',1);
INSERT INTO "outlive_tasks" VALUES(5,'Cancelled','','cancelled',NULL,2,'[]','2026-01-02T03:04:08.678901+00:00','2026-01-03T03:04:08.678901+00:00','2026-01-02T03:04:08.678901+00:00','2026-01-03T03:04:08.678901+00:00',NULL,NULL,NULL,NULL,3,'not needed','{}','{}',0);
CREATE INDEX outlive_tasks_ready ON outlive_tasks (priority, created_at, id)
                WHERE status = 'pending' AND blockers = 0;
CREATE INDEX outlive_tasks_leases ON outlive_tasks (lease_expires_at)
                WHERE status = 'in_progress' AND lease_expires_at IS NOT NULL;
CREATE INDEX outlive_tasks_status ON outlive_tasks (status, priority, created_at, id)
                WHERE archived_at IS NULL;
CREATE INDEX outlive_task_edges_back ON outlive_task_edges (depends_on, task);
CREATE INDEX outlive_task_labels_back ON outlive_task_labels (task);
CREATE INDEX outlive_task_changes_task ON outlive_task_changes (task, seq);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('outlive_task_changes',11);
COMMIT;
